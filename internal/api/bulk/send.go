package bulk

import (
	"maps"
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/api/contract"
)

// pieceSize is how much of the response is collected before it goes to the
// spool.
const pieceSize = 64 << 10

// collect passes results on in the order of their lines, followed by the
// summary.
func (t *stream) collect() {
	defer t.spool.end()
	for {
		piece, entries := t.gather()
		if len(entries) == 0 {
			break
		}
		if t.spool.put(piece, false) != nil {
			t.stop(errUnread)
			break
		}
		t.settle(entries)
	}
	t.waitForWorkers()
	if !t.isClientGone() && t.spool.put(t.summary(), true) != nil {
		t.clientGone() // a response without the summary must not look complete
	}
}

// errUnread stops a request whose results are not read.
var errUnread = &landfall.Error{
	Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests,
	Detail: "Too many results are waiting to be read. Read while you send, or send fewer lines at a time.",
}

// gather waits for the next results in order. It returns none when every line
// was answered or no other line will be.
func (t *stream) gather() (piece []byte, entries []*entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		for e := t.first; e != nil && e.state == done && len(piece) < pieceSize; e = e.next {
			piece, entries = append(piece, e.out...), append(entries, e)
		}
		// It is over when everything that arrived was answered, or when the request
		// was stopped and the next line in order will never start.
		over := t.first == nil && (t.bodyComplete || t.bodyErr != nil) || t.stopped != nil && (t.first == nil || t.first.state != doing)
		if len(entries) > 0 || over {
			return piece, entries
		}
		t.changed.Wait()
	}
}

// settle removes answered lines and makes room for others.
func (t *stream) settle(entries []*entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		t.first = e.next
		t.count--
		t.bytes -= len(e.text)
		t.tally[e.status]++
		t.answered = e.number
		// The log contains the supplier if all lines have the same one.
		switch {
		case e.supplier == "" || t.supplier == e.supplier || t.severalSuppliers:
		case t.supplier == "":
			t.supplier = e.supplier
		default:
			t.supplier, t.severalSuppliers = "", true
		}
	}
	if t.first == nil {
		t.last = nil
	}
	t.changed.Broadcast()
}

// waitForWorkers waits for the lines that have started, so that lines the
// client sends again do not meet them.
func (t *stream) waitForWorkers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.doing > 0 {
		t.changed.Wait()
	}
	if t.first == nil {
		t.answered = t.next - 1 // blank lines at the end count too
	} else {
		t.answered = t.first.number - 1
	}
}

// summary returns the last line of the response.
func (t *stream) summary() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	dst := append([]byte(nil), `{"summary":{"lines":`...)
	dst = strconv.AppendInt(dst, t.answered, 10)
	dst = append(dst, `,"statuses":{`...)
	for i, status := range slices.Sorted(maps.Keys(t.tally)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = strconv.AppendInt(dst, int64(status), 10)
		dst = append(dst, `":`...)
		dst = strconv.AppendInt(dst, t.tally[status], 10)
	}
	if t.complete() {
		return append(dst, "},\"complete\":true}}\n"...)
	}
	dst = append(dst, `},"complete":false,"next_line":`...)
	dst = strconv.AppendInt(dst, t.answered+1, 10)
	dst = append(dst, `,"error":`...)
	dst = contract.ErrorBody.Append(dst, t.stopReason())
	return append(dst, "}}\n"...)
}

// send writes the spooled results to the client, as fast as the client reads.
func (t *stream) send() {
	piece := make([]byte, pieceSize)
	for {
		n, err := t.spool.take(piece)
		if n == 0 && err == nil {
			return
		}
		if err == nil {
			_, err = t.request.Writer.Write(piece[:n])
		}
		if err == nil && t.spool.empty() {
			err = t.request.Writer.Flush()
		}
		if err != nil {
			t.clientGone()
			return
		}
		t.moved.Add(int64(n))
	}
}
