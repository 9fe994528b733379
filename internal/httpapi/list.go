package httpapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"time"

	"landfall"
	"landfall/internal/contract"
)

// flushAt is how much of a list is gathered before it is sent. Larger pieces
// are hardly faster; smaller ones cost a system call each.
const flushAt = 32 << 10

// list serves one of the three lists.
func list(filter landfall.ProcessFilter) func(*API, context.Context, *exchange) error {
	return func(a *API, ctx context.Context, x *exchange) error {
		query := landfall.ProcessQuery{Supplier: x.params[0], Filter: filter}
		page, err := contract.ReadPage(x.query)
		if err != nil {
			return err
		}
		query.Limit, query.After = page.Limit, page.After
		if query.Limit > 0 {
			return a.page(ctx, x, query)
		}
		rows, err := a.Desk.List(ctx, x.who, query)
		if err != nil {
			return err
		}
		return stream(a, x, rows, contract.AppendEntry)
	}
}

// page answers with at most a limit of entries. One more is asked for, to know
// whether a next page exists before the header goes out.
func (a *API) page(ctx context.Context, x *exchange, query landfall.ProcessQuery) error {
	limit := query.Limit
	query.Limit++
	rows, err := a.Desk.List(ctx, x.who, query)
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	body, count := (*buffer)[:0], 0
	body = append(body, '[')
	var last landfall.ProcessEntry
	for entry, err := range rows {
		if err != nil {
			return err
		}
		if count == limit {
			x.Header().Set("Link", x.nextPage(limit, last))
			break
		}
		body = appendItem(body, entry, contract.AppendEntry)
		last, count = entry, count+1
	}
	body = append(body, ']')
	*buffer = body
	return x.json(http.StatusOK, body)
}

// nextPage links to the page behind an entry. It is relative to the host the
// client used, which we neither know nor believe.
func (x *exchange) nextPage(limit int, last landfall.ProcessEntry) string {
	cursor := landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External}
	return fmt.Sprintf(`<%s?limit=%d&after=%s>; rel="next"`,
		printable(x.path), limit, contract.EncodeCursor(cursor))
}

// stream answers with the whole list, a piece at a time, so that memory does
// not grow with its length. A short list fits into one piece and gets a
// Content-Length. The time limit is on each piece: a slow reader is cut off, a
// long list is not.
func stream[T any](a *API, x *exchange, rows iter.Seq2[T, error], write func([]byte, T) []byte) error {
	buffer := borrow()
	defer giveBack(buffer)
	body := (*buffer)[:0]
	body = append(body, '[')
	for entry, err := range rows {
		if err != nil {
			return err
		}
		body = appendItem(body, entry, write)
		if len(body) >= flushAt {
			if err := a.sendPiece(x, body); err != nil {
				return err
			}
			body = append(body[:0], ',')
		}
	}
	if x.status != 0 && len(body) == 1 {
		body = body[:0] // the last piece ended with the last entry
	}
	body = append(body, ']')
	*buffer = body
	if x.status == 0 {
		return x.json(http.StatusOK, body)
	}
	return a.sendPiece(x, body)
}

// appendItem adds an item behind the opening bracket, a comma, or another item.
func appendItem[T any](body []byte, item T, write func([]byte, T) []byte) []byte {
	if len(body) > 1 {
		body = append(body, ',')
	}
	return write(body, item)
}

// sendPiece sends part of a list and pushes the deadline of the connection
// back by the time limit of a request.
func (a *API) sendPiece(x *exchange, piece []byte) error {
	if x.status == 0 {
		x.Header()["Content-Type"] = typeJSON
		x.WriteHeader(http.StatusOK)
	}
	deadline := time.Now().Add(a.RequestTimeout)
	if err := http.NewResponseController(x.ResponseWriter).SetWriteDeadline(deadline); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := x.Write(piece)
	return err
}
