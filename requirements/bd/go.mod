module bd

go 1.26
