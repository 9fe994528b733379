package contract

import (
	"encoding/json"
	"time"
)

// Custody is the chain of custody of a signed reconciliation: which files the
// accounts come from, what was left out on the way, and what was taken back.
type Custody struct {
	Program string        `json:"program,omitempty"` // that signed
	Servers []string      `json:"servers"`           // versions of the servers that were running
	Undone  int           `json:"accounts_undone"`   // how often an account was undone
	Books   []BookCustody `json:"books"`             // those the operator named
}

// BookCustody describes a book.
type BookCustody struct {
	Name    string          `json:"name"` // of its folder
	Files   []CustodyFile   `json:"files"`
	Origin  *Origin         `json:"origin,omitempty"`
	Imports []ImportCustody `json:"imports"`
}

// CustodyFile identifies a file by its content.
type CustodyFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Origin says where a book comes from. It is the content of its origin.json.
type Origin struct {
	Program string    `json:"program"`
	MadeAt  time.Time `json:"made_at"`
	// Of a conversion:
	Map         *CustodyFile  `json:"map,omitempty"`
	Tables      []CustodyFile `json:"tables,omitempty"`
	RowsRead    int           `json:"rows_read,omitempty"`
	RowsLeftOut int           `json:"rows_left_out,omitempty"` // because of problems, not those that the map passes over
	// Of lines that failed in an import and are sent again after they were fixed:
	FailedLines int `json:"failed_lines,omitempty"`
}

// ImportCustody is the report of an import of a book.
type ImportCustody struct {
	Report  CustodyFile     `json:"report"`
	MadeAt  time.Time       `json:"made_at"`
	Program string          `json:"program"`
	Totals  json.RawMessage `json:"totals"`
}
