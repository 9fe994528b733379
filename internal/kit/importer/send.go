package importer

import (
	"context"
	"errors"
	"iter"
	"sync"

	"landfall"
	"landfall/client"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
)

// sendKind sends the lines of one kind in bulk, continuing from the journal.
func (m *Importer) sendKind(ctx context.Context, kind book.Kind) error {
	name := phaseOf(kind)
	progress := m.journal.state.Phases[name]
	files := m.options.Book.Of(kind)
	if progress.Over || len(files) == 0 {
		return nil
	}
	whole, err := m.countLines(files)
	if err != nil {
		return err
	}
	m.watcher.Begin(name, whole)
	defer m.watcher.End(name)
	for ; progress.File < len(files); progress.File, progress.Line = progress.File+1, 0 {
		s := &fileSender{Importer: m, kind: kind, file: files[progress.File], progress: &progress}
		if err := m.retry(ctx, s.sendRest); err != nil {
			// Save what was settled since the last checkpoint.
			return errors.Join(err, m.journal.save())
		}
	}
	return m.journal.finish(name, progress)
}

// countLines counts the lines for a watcher; reading is cheap compared to sending.
func (m *Importer) countLines(files []book.File) (count int, err error) {
	if !m.options.Watched {
		return 0, nil
	}
	for _, file := range files {
		for _, err := range file.Lines() {
			if err != nil {
				return 0, err
			}
			count++
		}
	}
	return count, nil
}

type fileSender struct {
	*Importer
	kind     book.Kind
	file     book.File
	progress *phaseState

	mutex sync.Mutex
	queue []queuedLine // read but not settled, in order
}

// localError marks an error of local files: waiting does not help.
type localError struct{ error }

func (u localError) Unwrap() error { return u.error }

type queuedLine struct {
	line               int
	supplier, external string
	unsent             bool              // its account does not exist
	refused            *landfall.Failure // refused without asking the server
}

// sendRest sends the rest of the file and settles each line with its answer. It reports whether
// there was any progress.
func (s *fileSender) sendRest(ctx context.Context) (further bool, err error) {
	// Unanswered lines of an interrupted attempt are read again.
	s.queue = nil
	for answer, err := range s.client.Bulk(ctx, client.Kind(s.kind.Tail), queryFor(s.kind), s.lines()) {
		if err != nil {
			return further, err
		}
		further = true
		one, err := s.next()
		if err != nil {
			return further, err
		}
		if err := s.settleAnswered(one, answer); err != nil {
			return further, err
		}
	}
	return further, s.drain()
}

// lines yields the lines to send. It runs concurrently with the answers.
func (s *fileSender) lines() iter.Seq2[[]byte, error] {
	// Copied, because the progress changes meanwhile.
	settled := s.progress.Line
	return func(yield func([]byte, error) bool) {
		for line, err := range s.file.Lines() {
			if err != nil {
				yield(nil, localError{err})
				return
			}
			if line.Number <= settled {
				continue
			}
			one := s.read(line)
			// Queued before it is sent, because the answer may arrive first.
			s.mutex.Lock()
			s.queue = append(s.queue, one)
			s.mutex.Unlock()
			if !one.unsent && one.refused == nil && !yield(line.Text, nil) {
				return
			}
		}
	}
}

// read parses the key of a line and decides whether to send it.
func (s *fileSender) read(line book.Line) queuedLine {
	one := queuedLine{line: line.Number}
	if line.TooLong {
		one.refused = &landfall.Failure{Code: landfall.CodePayloadTooLarge, Detail: "The line is too long for a request."}
		return one
	}
	one.supplier, one.external, _ = rules.Peek(line.Text, "import_supplier", "external_account_number")
	one.unsent = s.kind != book.Accounts && s.failed.has(one.supplier, one.external)
	return one
}

// next settles lines that need no answer and returns the line of the next answer.
func (s *fileSender) next() (queuedLine, error) {
	for {
		s.mutex.Lock()
		one := s.queue[0]
		s.queue = s.queue[1:]
		s.mutex.Unlock()
		if !one.unsent && one.refused == nil {
			return one, nil
		}
		if err := s.settleUnsent(one); err != nil {
			return one, err
		}
	}
}

// drain settles the remaining lines after the last answer.
func (s *fileSender) drain() error {
	for _, one := range s.queue {
		if err := s.settleUnsent(one); err != nil {
			return err
		}
	}
	s.queue = nil
	return nil
}

// settleUnsent settles a line that was not sent.
func (s *fileSender) settleUnsent(one queuedLine) error {
	if one.refused != nil {
		return s.settle(one, outcomeFailed, one.refused)
	}
	return s.settle(one, outcomeUnsent, nil)
}

func (s *fileSender) settleAnswered(one queuedLine, answer client.Answer) error {
	what, failed := outcomeOf(s.kind, answer)
	// A supplier that accepts nothing needs no run.
	if s.kind == book.Accounts && what != outcomeFailed {
		s.journal.addSupplier(one.supplier, what == outcomeDone)
	}
	if what == outcomeFailed && failed.Code == landfall.CodeAccountNotFound && s.partial() {
		what, failed = outcomeUnsent, nil // its account was not to be created
	}
	return s.settle(one, what, failed)
}

// partial reports whether some accounts of the book were not to be created, so that what belongs to
// them cannot be added.
func (m *Importer) partial() bool {
	return m.options.Sample > 1 || m.options.OnlyFailed || m.options.Supplier != ""
}

// settle counts a line, stores its failure, and records the progress.
func (s *fileSender) settle(one queuedLine, what lineOutcome, failed *landfall.Failure) error {
	tally := &s.progress.Tally
	tally.Lines++
	switch what {
	case outcomeDone:
		tally.Done++
	case outcomeThere:
		tally.Existing++
	case outcomeUnsent:
		tally.NotReached++
	case outcomeFailed, outcomeDiffers:
		why := failure{
			Kind: s.kind.Stem, File: s.progress.File, Line: one.line, Supplier: one.supplier, External: one.external, Failure: *failed,
			Differs: what == outcomeDiffers,
		}
		if why.Differs {
			tally.Differs++
		} else {
			tally.Failed++
		}
		if err := s.recordFailure(why); err != nil {
			return err
		}
		s.countFailure(why)
	}
	s.progress.Line = one.line
	s.watcher.Progress(phaseOf(s.kind), tally.Lines, tally.Failed)
	return s.journal.update(phaseOf(s.kind), *s.progress)
}
