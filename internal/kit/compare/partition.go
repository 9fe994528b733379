package compare

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"runtime"
	"sync"

	"landfall"
	"landfall/internal/kit/book"
	"landfall/internal/store/pack"
)

// Comparing two long lists in different orders would need memory for one of them. Instead both are
// partitioned on disk by account, and only one partition at a time is in memory.

const (
	// partitionCount is enough to keep partitions small for a book of millions, and few enough open
	// files.
	partitionCount = 256
	// blockLength is how much of a partition is packed at once. Longer blocks pack better, and need
	// more memory.
	blockLength = 64 << 10
)

// record is a line of the book, or something that the server says about an account.
type record struct {
	kind       recordKind
	key        landfall.Key
	file, line int // of the book, from 0 and from 1
	text       []byte
	order      int // of reading, in its partition; not stored
}

// recordKind is what the text of a record is.
type recordKind byte

// The kinds are letters, because pack knows documents that are not packed by their first byte.
const (
	bookRecord  recordKind = 'b' // a line of the book
	saidRecord  recordKind = 's' // a serverAccount as JSON
	wholeRecord recordKind = 'w' // a whole account, see keepWhole
)

// appendTo appends the record as it is stored.
func (r record) appendTo(dst []byte) []byte {
	dst = append(dst, byte(r.kind))
	dst = appendText(appendText(dst, r.key.Supplier), r.key.External)
	dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(r.file)), uint64(r.line)) //nolint:gosec // not negative
	return appendText(dst, r.text)
}

// appendText appends a text with its length.
func appendText[Text []byte | string](dst []byte, text Text) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// storedFields reads what was stored.
type storedFields struct {
	rest []byte
	err  error
}

var errDamaged = errors.New("a temporary file is damaged")

func (f *storedFields) number() uint64 {
	number, width := binary.Uvarint(f.rest)
	if width <= 0 {
		f.rest, f.err = nil, errDamaged
		return 0
	}
	f.rest = f.rest[width:]
	return number
}

func (f *storedFields) count() int { return int(min(f.number(), 1<<62)) }

func (f *storedFields) text() []byte {
	length := f.count()
	if length > len(f.rest) {
		f.rest, f.err = nil, errDamaged
		return nil
	}
	text := f.rest[:length:length]
	f.rest = f.rest[length:]
	return text
}

// partitions are kept in memory while they are short, and then in files.
type partitions struct {
	parts   []partition
	writers []chan fullBlock // each packs and writes the blocks of some of the partitions, in order
	working sync.WaitGroup
	unused  chan []byte // memory of blocks that are written

	failure sync.Mutex
	failed  error
}

// partition is a file and what is not yet written to it.
type partition struct {
	buffer []byte
	file   *os.File // nil while everything fits into memory; only its writer uses it until finish
}

// fullBlock is a block of a partition that is to be written.
type fullBlock struct {
	part *partition
	text []byte
}

func newPartitions() *partitions {
	h := &partitions{parts: make([]partition, partitionCount), unused: make(chan []byte, runtime.GOMAXPROCS(0))}
	for range runtime.GOMAXPROCS(0) {
		blocks := make(chan fullBlock, 1)
		h.writers = append(h.writers, blocks)
		h.working.Go(func() {
			for block := range blocks {
				if err := block.part.write(block.text); err != nil {
					h.fail(err)
				}
				select {
				case h.unused <- block.text[:0]:
				default:
				}
			}
		})
	}
	return h
}

func (h *partitions) fail(err error) {
	h.failure.Lock()
	defer h.failure.Unlock()
	h.failed = errors.Join(h.failed, err)
}

func (h *partitions) error() error {
	h.failure.Lock()
	defer h.failure.Unlock()
	return h.failed
}

// add adds a record to the partition of its account.
func (h *partitions) add(one record) error {
	at := int(hash64(one.key.Supplier+"\x00"+one.key.External) % uint64(len(h.parts))) //nolint:gosec // a small number
	part := &h.parts[at]
	part.buffer = one.appendTo(part.buffer)
	if len(part.buffer) < blockLength {
		return nil
	}
	h.writers[at%len(h.writers)] <- fullBlock{part, part.buffer}
	select {
	case part.buffer = <-h.unused:
	default:
		part.buffer = nil
	}
	return h.error()
}

// write packs a block and writes it to the file. The file is deleted as soon as it is open, because a
// killed process would leave customer data behind.
func (p *partition) write(block []byte) error {
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
	packed, err := pack.Pack(block)
	if err != nil {
		return err
	}
	_, err = p.file.Write(appendText(make([]byte, 0, len(packed)+binary.MaxVarintLen64), packed))
	return err
}

// finish waits until everything is written. Nothing can be added afterwards.
func (h *partitions) finish() error {
	for _, blocks := range h.writers {
		close(blocks)
	}
	h.writers = nil
	h.working.Wait()
	return h.failed
}

// each calls see for the records of one partition, in order.
func (h *partitions) each(ctx context.Context, at int, see func(record)) error {
	for block := range book.InOrder(ctx, h.parts[at].blocks()) {
		if block.err != nil {
			return block.err
		}
		for fields := (storedFields{rest: block.text}); len(fields.rest) > 0; {
			one := record{kind: recordKind(fields.rest[0])}
			fields.rest = fields.rest[1:]
			one.key = landfall.Key{Supplier: string(fields.text()), External: string(fields.text())}
			one.file, one.line, one.text = fields.count(), fields.count(), fields.text()
			if fields.err != nil {
				return fields.err
			}
			see(one)
		}
	}
	return ctx.Err()
}

type unpackedBlock struct {
	text []byte
	err  error
}

// blocks reads the blocks of a partition, which can be unpacked on all cores.
func (p *partition) blocks() iter.Seq[func() unpackedBlock] {
	return func(yield func(func() unpackedBlock) bool) {
		if p.file != nil {
			_, err := p.file.Seek(0, io.SeekStart)
			for in := bufio.NewReaderSize(p.file, 256<<10); ; {
				var packed []byte
				if err == nil {
					packed, err = readBlock(in)
				}
				if errors.Is(err, io.EOF) {
					break
				}
				if failed := err; failed != nil {
					yield(func() unpackedBlock { return unpackedBlock{err: failed} })
					return
				}
				unpack := func() unpackedBlock {
					text, err := pack.Unpack(packed)
					return unpackedBlock{text, err}
				}
				if !yield(unpack) {
					return
				}
			}
		}
		yield(func() unpackedBlock { return unpackedBlock{text: p.buffer} })
	}
}

// readBlock reads a packed block. Its error is io.EOF after the last one.
func readBlock(in *bufio.Reader) ([]byte, error) {
	length, err := binary.ReadUvarint(in)
	if err != nil {
		return nil, err
	}
	packed := make([]byte, min(length, 1<<40))
	if _, err = io.ReadFull(in, packed); err != nil {
		return nil, errDamaged
	}
	return packed, nil
}

func (h *partitions) close() (err error) {
	if h.writers != nil {
		err = h.finish()
	}
	for i := range h.parts {
		if file := h.parts[i].file; file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
