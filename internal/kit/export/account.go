package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// accountLists are the lists at the end of a whole account.
var accountLists = map[string]bool{"ledger": true, "notes": true, "statements": true, "payment_instructions": true}

// accountReader is called with the parts of whole accounts. No part but the record can be long, so
// memory does not depend on how much an account has.
type accountReader interface {
	// begin is called with everything before the lists.
	begin(head *jsonValue) error
	// item is called with each item of a list, numbered from 0.
	item(list string, number int, item *jsonValue) error
	endList(list string, items int) error
	end() error
}

// readAccounts reads the lines of a page.
func readAccounts(lines io.Reader, reader accountReader) error {
	decoder := json.NewDecoder(lines)
	for {
		err := readAccount(decoder, reader)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readAccount reads one account, or returns io.EOF.
func readAccount(decoder *json.Decoder, reader accountReader) error {
	if _, err := decoder.Token(); err != nil {
		return err
	}
	var head jsonValue
	begun := false
	begin := func() error {
		if begun {
			return nil
		}
		begun = true
		return reader.begin(&head)
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return fmt.Errorf("cannot read an account of the server: %w", err)
		}
		name, _ := token.(string)
		if accountLists[name] {
			if err := begin(); err != nil {
				return err
			}
			if err := readList(decoder, name, reader); err != nil {
				return err
			}
			continue
		}
		if begun {
			return fmt.Errorf("the server sends %s after the lists of an account; use a landfall of the server's version", name)
		}
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return fmt.Errorf("cannot read an account of the server: %w", err)
		}
		head.members = append(head.members, member{name, parseValue(text)})
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("cannot read an account of the server: %w", err)
	}
	if err := begin(); err != nil {
		return err
	}
	return reader.end()
}

// readList reads a list item by item.
func readList(decoder *json.Decoder, name string, reader accountReader) error {
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("cannot read an account of the server: %w", err)
	}
	number := 0
	for ; decoder.More(); number++ {
		var text json.RawMessage
		if err := decoder.Decode(&text); err != nil {
			return fmt.Errorf("cannot read an account of the server: %w", err)
		}
		item := parseValue(text)
		if err := reader.item(name, number, &item); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return fmt.Errorf("cannot read an account of the server: %w", err)
	}
	return reader.endList(name, number)
}
