package compare

import (
	"bufio"
	"encoding/gob"
	"errors"
	"io"
	"os"
)

// Comparing two long lists in different orders would need memory for one of them. Instead both are
// partitioned on disk by account, and only one partition at a time is in memory.

// partitionCount keeps partitions small for a book of millions, and the number of open files low.
const partitionCount = 64

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
}

// storedItem is an item on disk: only numbers, which gob encodes compactly.
type storedItem struct {
	Kind, Of       byte
	ID             uint64
	At             int64
	Amount, Signed int64
}

// partitions are deleted files, so that nothing is left behind.
type partitions struct {
	files [partitionCount]*os.File
	out   [partitionCount]*bufio.Writer
	put   [partitionCount]*gob.Encoder
}

// newPartitions deletes each file as soon as it is open, because a killed process would leave
// customer data behind.
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
		// Each partition needs its own encoder to be readable by itself.
		h.put[i] = gob.NewEncoder(h.out[i])
	}
	return h, nil
}

// add adds a record to the partition of its account.
func (h *partitions) add(one partitionRecord) error {
	at := hash64(one.Supplier+"\x00"+one.External) % partitionCount
	return h.put[at].Encode(one)
}

// each calls see for the records of one partition, in order.
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

// close closes the files, which deletes them.
func (h *partitions) close() (err error) {
	for _, file := range h.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
