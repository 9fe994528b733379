package engine

import "strconv"

// PostgresWords says what a SQLSTATE means for an operator. docs/messages.md lists
// all of them.
var PostgresWords = map[string]string{
	"08000": "the connection to the server failed",
	"08001": "the connection to the server failed",
	"08003": "the connection to the server failed",
	"08006": "the connection to the server failed",
	"08P01": "the server, or a pooler before it, does not understand the connection",
	"25006": "the server is read only: it is a standby, or was set to read only",
	"25P03": "the server closed a transaction that was idle for too long",
	"28000": "the server does not accept this user from this host, or not without TLS (see its pg_hba.conf)",
	"28P01": "the server does not accept this user and password",
	"3D000": "the server has no database of this name",
	"3F000": "there is no schema to create tables in (see search_path of the role)",
	"40001": "another transaction changed the same rows",
	"40P01": "two transactions waited for each other",
	"42501": "the role lacks a permission: it must own the tables, and may create tables in the schema",
	"42703": "a column is missing: the schema is not that of this program",
	"42P01": "a table is missing: the schema is not that of this program, or search_path leads elsewhere",
	"53100": "the disk of the server is full",
	"53200": "the server is out of memory",
	"53300": "the server has no connection left (see its max_connections)",
	"53400": "a limit in the server's configuration is reached",
	"55P03": "another transaction holds a lock for too long",
	"57014": "the statement took too long and was cancelled",
	"57P01": "the server is stopping, or an administrator ended the connection",
	"57P02": "the server crashed and restarts",
	"57P03": "the server is starting or stopping",
	"57P04": "the database was dropped",
	"57P05": "the server closed a connection that was idle for too long",
	"58000": "the server reports an error of its operating system",
	"58030": "the server cannot read or write its disk",
	"58P01": "the server misses one of its files",
	"XX000": "the server reports an internal error (see its log)",
	"XX001": "the server reports damaged data",
	"XX002": "the server reports a damaged index",
}

// SQLiteWords says the same for the primary result codes of SQLite.
var SQLiteWords = map[int]string{
	3:  "access to the file is denied",
	5:  "another process writes to the file",
	6:  "another connection has locked the file",
	7:  "there is not enough memory",
	8:  "the file or its file system is read only",
	10: "the disk reports an error",
	11: "the file is damaged",
	13: "the disk is full",
	14: "the file cannot be opened",
	15: "too many processes use the locks of the file",
	26: "the file is not a SQLite database",
}

// CodeWords returns the meaning of a code, or "".
func CodeWords(code string) string {
	if words := PostgresWords[code]; words != "" {
		return words
	}
	number, err := strconv.Atoi(code)
	switch {
	case err != nil || len(code) == len("00000"): // a SQLSTATE
		return ""
	case diskFullCodes[code]:
		return SQLiteWords[13]
	}
	return SQLiteWords[number&0xff]
}
