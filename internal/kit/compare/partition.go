package compare

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"os"
)

// Comparing two long lists in different orders would need memory for one of them. Instead both are
// partitioned on disk by account, and only one partition at a time is in memory.

// How many partitions there are: enough to keep them small for a book of millions, and few enough
// open files. Whole accounts are longer than figures.
const (
	figurePartitions = 64
	wholePartitions  = 256
)

// partitionRecord is something that the book or the server says about an account.
type partitionRecord struct {
	Supplier, External string
	Part               *storedPart
	Found              *serverAccount
}

// storedPart is a bookLine without its key.
type storedPart struct {
	Account  bool
	Currency string
	Numbers  []int64
	Items    []storedItem
	File     int    // index in the book
	Line     int    // from 1
	Text     []byte // packed; nil if only figures are compared
}

// storedItem is an item on disk: only numbers, which gob encodes compactly.
type storedItem struct {
	Kind, Of       byte
	ID             uint64
	At             int64
	Amount, Signed int64
}

// partitions are kept in memory while they are short, and then in files.
type partitions struct {
	parts []partition
}

// partition is a file and what is not yet written to it.
type partition struct {
	file   *os.File // nil while everything fits into memory
	buffer bytes.Buffer
	put    *gob.Encoder // each partition needs its own to be readable by itself
}

// maxBuffer is how much of a partition is in memory.
const maxBuffer = 16 << 10

func newPartitions(figuresOnly bool) *partitions {
	count := wholePartitions
	if figuresOnly {
		count = figurePartitions
	}
	h := &partitions{parts: make([]partition, count)}
	for i := range h.parts {
		h.parts[i].put = gob.NewEncoder(&h.parts[i].buffer)
	}
	return h
}

// add adds a record to the partition of its account.
func (h *partitions) add(one partitionRecord) error {
	part := &h.parts[hash64(one.Supplier+"\x00"+one.External)%uint64(len(h.parts))]
	if err := part.put.Encode(one); err != nil || part.buffer.Len() < maxBuffer {
		return err
	}
	return part.flush()
}

// flush writes the buffer to the file. The file is deleted as soon as it is open, because a killed
// process would leave customer data behind.
func (p *partition) flush() error {
	if p.file == nil {
		file, err := os.CreateTemp("", "landfall-reconcile-")
		if err != nil {
			return err
		}
		p.file = file
		if err := os.Remove(file.Name()); err != nil {
			return err
		}
	}
	_, err := p.buffer.WriteTo(p.file)
	return err
}

// each calls see for the records of one partition, in order.
func (h *partitions) each(at int, see func(partitionRecord)) error {
	part := &h.parts[at]
	var records io.Reader = bytes.NewReader(part.buffer.Bytes())
	if part.file != nil {
		if _, err := part.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		records = bufio.NewReaderSize(io.MultiReader(part.file, records), 256<<10)
	}
	in := gob.NewDecoder(records)
	for {
		var one partitionRecord
		err := in.Decode(&one)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		see(one)
	}
}

func (h *partitions) close() (err error) {
	for i := range h.parts {
		if file := h.parts[i].file; file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
