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

// sendKind sends the lines of one kind in bulk, from where the journal says.
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
			// What was settled since the last checkpoint is saved too, so that
			// little is sent twice.
			return errors.Join(err, m.journal.save())
		}
	}
	return m.journal.finish(name, progress)
}

// countLines counts what is to be sent, for whoever watches and wants to know when it
// will be over: reading costs next to nothing beside sending.
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

// fileSender is one file on its way.
type fileSender struct {
	*Importer
	kind     book.Kind
	file     book.File
	progress *phaseState

	mutex sync.Mutex
	queue []queuedLine // read and not yet settled, in the order of the file
}

// localError marks an error of the book's own files: no waiting mends it.
type localError struct{ error }

func (u localError) Unwrap() error { return u.error }

// queuedLine is a line that was read.
type queuedLine struct {
	line               int
	supplier, external string
	unsent             bool              // nothing can come of it
	refused            *landfall.Failure // without asking the server
}

// sendRest sends what is left of the file, and settles each line when its answer
// comes. It reports whether it got any further.
func (s *fileSender) sendRest(ctx context.Context) (further bool, err error) {
	// Lines of a broken attempt that got no answer are read again, from behind the
	// last one that was settled.
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

// lines gives what is to be sent. It runs beside the answers.
func (s *fileSender) lines() iter.Seq2[[]byte, error] {
	// Taken now, because the progress moves on while lines are being sent.
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
			// Queued before it is sent: the answer may come before this goes on.
			s.mutex.Lock()
			s.queue = append(s.queue, one)
			s.mutex.Unlock()
			if !one.unsent && one.refused == nil && !yield(line.Text, nil) {
				return
			}
		}
	}
}

// read looks whose line it is, and whether it is worth sending.
func (s *fileSender) read(line book.Line) queuedLine {
	one := queuedLine{line: line.Number}
	if line.TooLong {
		one.refused = &landfall.Failure{Code: landfall.CodePayloadTooLarge, Detail: "The line is longer than any request may be."}
		return one
	}
	one.supplier, one.external, _ = rules.Peek(line.Text, "import_supplier", "external_account_number")
	one.unsent = s.kind != book.Accounts && s.failed.has(one.supplier, one.external)
	return one
}

// next settles what needs no answer and gives the line that the next answer is
// about.
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

// drain settles what is left when the last answer has come.
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

// settleAnswered settles a line by its answer.
func (s *fileSender) settleAnswered(one queuedLine, answer client.Answer) error {
	if s.kind == book.Accounts {
		s.journal.addSupplier(one.supplier)
	}
	outcome, failed := outcomeOf(s.kind, answer)
	if outcome == outcomeFailed && failed.Code == landfall.CodeAccountNotFound && s.partial() {
		outcome, failed = outcomeUnsent, nil // its account has not been created yet, as was ordered
	}
	return s.settle(one, outcome, failed)
}

// partial reports whether accounts of the book were left out on purpose: what
// belongs to them is not reached either.
func (m *Importer) partial() bool {
	return m.options.Sample > 1 || m.options.OnlyFailed || m.options.Supplier != ""
}

// settle counts a line, keeps why it failed, and notes how far the file is.
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
	case outcomeFailed:
		tally.Failed++
		why := failure{
			Kind: s.kind.Stem, File: s.progress.File, Line: one.line, Supplier: one.supplier, External: one.external, Failure: *failed,
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
