package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
)

// Outcome is the result of one document of a bulk call.
type Outcome[T any] struct {
	Line  int // from 1, in the order sent
	Value T
	Err   error // an [*Error] if the document was refused
}

// Documents makes the input of a bulk call from a slice.
func Documents[T any](list []T) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, one := range list {
			if !yield(one, nil) {
				return
			}
		}
	}
}

// ValidateAll is [Client.Validate] for many accounts.
func (c *Client) ValidateAll(ctx context.Context, accounts iter.Seq2[Document, error]) iter.Seq2[Outcome[[]Violation], error] {
	return bulkOf(ctx, c, BulkValidate, withWarnings, accounts, func(answer Answer) ([]Violation, error) {
		var body struct {
			Warnings []Violation `json:"warnings"`
		}
		return body.Warnings, readAnswer(answer, &body)
	})
}

// StageAll is [Client.Stage] for many accounts.
func (c *Client) StageAll(ctx context.Context, accounts iter.Seq2[Document, error]) iter.Seq2[Outcome[Staged], error] {
	return bulkOf(ctx, c, BulkStage, withWarnings, accounts, func(answer Answer) (staged Staged, err error) {
		err = readAnswer(answer, &staged)
		staged.First = answer.Status == http.StatusCreated
		return staged, err
	})
}

// ProcessAll is [Client.Process] for many accounts; a run is faster. A successful dry run is an
// error here, with the code dry_run_rolled_back.
func (c *Client) ProcessAll(ctx context.Context, creations iter.Seq2[Document, error]) iter.Seq2[Outcome[Created], error] {
	return bulkOf(ctx, c, BulkProcess, withWarnings, creations, func(answer Answer) (created Created, err error) {
		return created, readAnswer(answer, &created)
	})
}

// AddNotesAll is [Client.AddNotes] for many accounts.
func (c *Client) AddNotesAll(ctx context.Context, notes iter.Seq2[Document, error]) iter.Seq2[Outcome[[]PostedNote], error] {
	return bulkOf(ctx, c, BulkNotes, nil, notes, func(answer Answer) (posted []PostedNote, err error) {
		return posted, readAnswer(answer, &posted)
	})
}

// AddTransactionsAll is [Client.AddTransactions] for many accounts.
func (c *Client) AddTransactionsAll(
	ctx context.Context, transactions iter.Seq2[Document, error], options TransactionOptions,
) iter.Seq2[Outcome[[]PostedTransaction], error] {
	return bulkOf(ctx, c, BulkTransactions, options.query(), transactions, func(answer Answer) ([]PostedTransaction, error) {
		var body struct {
			Results []PostedTransaction `json:"results"`
		}
		return body.Results, readAnswer(answer, &body)
	})
}

// AddStatementsAll is [Client.AddStatements] for many accounts. The values are the bodies of the
// responses.
func (c *Client) AddStatementsAll(ctx context.Context, statements iter.Seq2[Document, error]) iter.Seq2[Outcome[json.RawMessage], error] {
	return bulkOf(ctx, c, BulkStatements, nil, statements, rawBody)
}

// AddInstructionsAll is [Client.AddInstruction] for many accounts. The values are the bodies of the
// responses.
func (c *Client) AddInstructionsAll(ctx context.Context, instructions iter.Seq2[Document, error]) iter.Seq2[Outcome[json.RawMessage], error] {
	return bulkOf(ctx, c, BulkInstructions, nil, instructions, rawBody)
}

// bulkOf makes a bulk call with documents and decodes its answers.
func bulkOf[T any](
	ctx context.Context, c *Client, kind Kind, query url.Values, documents iter.Seq2[Document, error], read func(Answer) (T, error),
) iter.Seq2[Outcome[T], error] {
	lines := func(yield func([]byte, error) bool) {
		for document, err := range documents {
			var line []byte
			if err == nil {
				line, err = marshalDocument(document)
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
	return func(yield func(Outcome[T], error) bool) {
		for answer, err := range c.Bulk(ctx, kind, query, lines) {
			if err != nil {
				yield(Outcome[T]{}, err)
				return
			}
			value, refusal := read(answer)
			if _, ours := errors.AsType[*Error](refusal); refusal != nil && !ours {
				yield(Outcome[T]{}, refusal)
				return
			}
			if !yield(Outcome[T]{answer.Line, value, refusal}, nil) {
				return
			}
		}
	}
}

// readAnswer decodes the body of an answer, or returns its refusal.
func readAnswer(answer Answer, into any) error {
	if err := answer.Err(); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("cannot parse the server's answer to line %d: %w", answer.Line, err)
	}
	return nil
}

func rawBody(answer Answer) (json.RawMessage, error) { return answer.Body, answer.Err() }
