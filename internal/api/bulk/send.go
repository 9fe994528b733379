package bulk

import (
	"maps"
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/api/contract"
)

// pieceSize is how much of the answer is gathered before it is passed on.
const pieceSize = 64 << 10

// collect passes answers on in the order their lines came, and then says what
// became of all of them.
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
		t.clientGone() // an answer without it must not look whole
	}
}

// errUnread stops a request whose answers nobody takes.
var errUnread = &landfall.Error{
	Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests,
	Detail: "Too many results are waiting to be read. Read while you send, or send fewer lines at a time.",
}

// gather waits for answers whose turn it is. There are none when every line has
// been answered, or none can be any more.
func (t *stream) gather() (piece []byte, entries []*entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for {
		for e := t.first; e != nil && e.state == done && len(piece) < pieceSize; e = e.next {
			piece, entries = append(piece, e.out...), append(entries, e)
		}
		// It is over when everything that arrived was answered, or when it was
		// stopped and the next line in turn will never be begun.
		over := t.first == nil && (t.bodyComplete || t.bodyErr != nil) || t.stopped != nil && (t.first == nil || t.first.state != doing)
		if len(entries) > 0 || over {
			return piece, entries
		}
		t.changed.Wait()
	}
}

// settle takes lines off that were answered, and makes room for others.
func (t *stream) settle(entries []*entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range entries {
		t.first = e.next
		t.count--
		t.bytes -= len(e.text)
		t.tally[e.status]++
		t.answered = e.number
		// The log names the supplier when all lines were about one.
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

// waitForWorkers waits for the lines that have begun. What is sent again must not meet
// them.
func (t *stream) waitForWorkers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.doing > 0 {
		t.changed.Wait()
	}
	if t.first == nil {
		t.answered = t.next - 1 // the blank ones at the end count too
	} else {
		t.answered = t.first.number - 1
	}
}

// summary writes the last line.
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

// send writes what was collected to the caller, as fast as he takes it.
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
