package compare

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"
)

// Comparing two long lists that are in different orders would take memory for
// one of them. Instead both are put into heaps on disk by account, and only the
// accounts of one heap are ever held in memory.

// partitionCount keeps a heap small for a book of millions, and the number of open
// files small for everybody.
const partitionCount = 64

// partitionRecord is a line of a heap: something that the book or the server says about
// an account.
type partitionRecord struct {
	Supplier, External string
	Part               *storedPart
	Found              *serverAccount
}

// storedPart is a part without what the record says already.
type storedPart struct {
	Account  bool
	Currency string
	Numbers  []int64
	Items    []storedItem
}

// storedItem is an item as it lies on disk: numbers alone, which gob writes in as few
// bytes as each needs. A text would be most of a heap.
type storedItem struct {
	Kind, Of       byte
	ID             uint64
	At             int64
	Amount, Signed int64
}

// partitions are files without names: whatever ends us, nothing stays behind.
type partitions struct {
	files [partitionCount]*os.File
	out   [partitionCount]*bufio.Writer
	put   [partitionCount]*gob.Encoder
}

// newPartitions removes each file as soon as it is open: what a killed program left would
// hold customers' data until somebody finds it.
func newPartitions() (*partitions, error) {
	h := &partitions{}
	for i := range h.files {
		file, err := os.CreateTemp("", "landfall-reconcile-")
		if err != nil {
			return nil, errors.Join(err, h.close())
		}
		h.files[i] = file
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, h.close())
		}
		h.out[i] = bufio.NewWriterSize(file, 16<<10)
		// An encoder says once what its records look like, so that each heap needs
		// its own to be read by itself.
		h.put[i] = gob.NewEncoder(h.out[i])
	}
	return h, nil
}

// add puts a record onto the heap of its account.
func (h *partitions) add(one partitionRecord) error {
	at := hash64(one.Supplier+"\x00"+one.External) % partitionCount
	return h.put[at].Encode(one)
}

// each gives the records of one heap in the order they were added.
func (h *partitions) each(at int, see func(partitionRecord)) error {
	if err := h.out[at].Flush(); err != nil {
		return err
	}
	if _, err := h.files[at].Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := gob.NewDecoder(bufio.NewReaderSize(h.files[at], 256<<10))
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

// close lets the files go; where they have no name any more, that deletes them.
func (h *partitions) close() (err error) {
	for _, file := range h.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
