package export

import (
	"io"

	"landfall/internal/api/rules"
)

// linesName has whole accounts. It does not start with accounts, so that nobody takes it for a file of
// a book.
const linesName = "whole-accounts.ndjson"

// lineSink writes whole accounts, as the server sends them or with pseudonyms.
type lineSink struct {
	journal *journal
	hide    *pseudonyms
	out     *growingFile
	line    []byte
}

func newLineSink(hide *pseudonyms, j *journal) accountSink { return &lineSink{journal: j, hide: hide} }

func (s *lineSink) add(p *accountPage) (leftOut int, err error) {
	if s.out == nil {
		if s.out, err = s.journal.file(linesName); err != nil {
			return 0, err
		}
	}
	s.out.rows += p.accounts
	if s.hide == nil {
		_, err := io.Copy(s.out, p.reader())
		return 0, err
	}
	return 0, readAccounts(p.reader(), s)
}

func (s *lineSink) checkpoint() (bool, error) { return true, s.journal.sync() }

func (s *lineSink) finish() error {
	_, err := s.journal.file(linesName)
	return err
}

// begin writes an account up to its lists.
func (s *lineSink) begin(head *jsonValue) error {
	s.line = append(s.line[:0], '{')
	data := s.hide.object(nil, s.hide.schema.BookTable("accounts"), head.member("data"))
	for i := range head.members {
		one := &head.members[i]
		s.line = rules.AppendName(s.line, one.name)
		switch one.name {
		case "data":
			s.line = append(s.line, data...)
		default:
			s.line = append(s.line, one.value.text...)
		}
	}
	return nil
}

func (s *lineSink) item(list string, number int, item *jsonValue) error {
	if number == 0 {
		s.line = append(rules.AppendName(s.line, list), '[')
	} else {
		s.line = append(s.line, ',')
	}
	s.line = s.hide.object(s.line, s.hide.lists[list], item)
	return s.flush(fileBuffer)
}

func (s *lineSink) endList(list string, items int) error {
	if items == 0 {
		s.line = append(rules.AppendName(s.line, list), '[')
	}
	s.line = append(s.line, ']')
	return nil
}

func (s *lineSink) end() error {
	s.line = append(s.line, '}', '\n')
	return s.flush(0)
}

// flush writes the line so far, unless it is short.
func (s *lineSink) flush(most int) error {
	if len(s.line) < most {
		return nil
	}
	_, err := s.out.Write(s.line)
	s.line = s.line[:0]
	return err
}
