package contract

import (
	"cmp"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// AppendPostingLine writes something that was posted to an account as the body of
// the call that posts it again, in one line.
func AppendPostingLine(dst []byte, key landfall.Key, item landfall.PostedItem) []byte {
	dst = rules.AppendText(append(dst, '{'), "import_supplier", key.Supplier)
	dst = rules.AppendText(dst, "external_account_number", key.External)
	switch item.Kind {
	case landfall.PostingNotes:
		dst = append(appendPostedNote(append(dst, `,"notes":[{`...), item.Note), `}]`...)
	case landfall.PostingTransactions:
		from := len(dst)
		dst = append(append(append(dst, `,"transactions":[`...), item.Transaction.Document...), ']')
		joinLines(dst[from:])
	case landfall.PostingStatements:
		dst = append(appendPostedStatement(append(dst, `,"statements":[{`...), item.Statement), `}]`...)
	case landfall.PostingInstruction:
		dst = appendPostedInstruction(dst, item.Instruction)
	}
	return append(dst, "}\n"...)
}

// appendExtra writes the fields that packs add, a JSON object or nothing, as
// members.
func appendExtra(dst []byte, extra string) []byte {
	members := strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(extra), "{"), "}"))
	if members == "" {
		return dst
	}
	from := len(dst)
	dst = append(rules.AppendComma(dst), members...)
	joinLines(dst[from:])
	return dst
}

func appendPostedNote(dst []byte, note *landfall.Note) []byte {
	dst = rules.AppendText(dst, "created_at", calendar.FormatInstant(note.CreatedAt))
	if note.HasBody {
		dst = rules.AppendText(dst, "body", note.Body)
	}
	if len(note.DocumentPaths) > 0 {
		dst = append(dst, `,"document_paths":[`...)
		for _, path := range note.DocumentPaths {
			dst = append(rules.AppendText(append(rules.AppendComma(dst), '{'), "document_path", path), '}')
		}
		dst = append(dst, ']')
	}
	if note.Pinned {
		dst = append(dst, `,"is_pinned":true`...)
	}
	if !note.UnpinAt.IsZero() {
		dst = rules.AppendText(dst, "unpin_at", calendar.FormatInstant(note.UnpinAt))
	}
	if note.ExternalID != "" {
		dst = rules.AppendText(dst, "external_id", note.ExternalID)
	}
	return appendExtra(dst, note.Extra)
}

func appendPostedStatement(dst []byte, statement *landfall.Statement) []byte {
	dst = rules.AppendText(dst, "statement_id", statement.ID)
	dst = rules.AppendText(dst, "bill_period_from_date", statement.FromOn.String())
	dst = rules.AppendText(dst, "bill_period_to_date", statement.ToOn.String())
	if !statement.IssuedOn.IsZero() {
		dst = rules.AppendText(dst, "issued_date", statement.IssuedOn.String())
	}
	if statement.Number != "" {
		dst = rules.AppendText(dst, "number", statement.Number)
	}
	if sent := cmp.Or(statement.SentAmount, statement.GrossAmount); sent != nil {
		dst = rules.AppendText(dst, "gross_amount", sent.String())
	}
	if statement.Path != "" {
		dst = rules.AppendText(dst, "statement_path", statement.Path)
	}
	return appendExtra(dst, statement.Extra)
}

func appendPostedInstruction(dst []byte, instruction *landfall.Instruction) []byte {
	dst = rules.AppendText(dst, "vendor", instruction.Vendor)
	dst = rules.AppendText(dst, "reference", instruction.Reference)
	dst = rules.AppendText(dst, "type", instruction.Type)
	if !instruction.ValidFromOn.IsZero() {
		dst = rules.AppendText(dst, "valid_from", instruction.ValidFromOn.String())
	}
	return append(append(dst, `,"use_for_scheduled_payments":`...), strconv.FormatBool(instruction.ForSchedules)...)
}
