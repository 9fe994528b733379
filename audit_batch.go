package landfall

import "strings"

// AuditBatch gathers what organisations do in one transaction. All of it becomes one
// entry of the audit, so that being written down costs a staging next to
// nothing: an entry for each would be as dear as the row it tells of.
//
// As text it has a line for each kind of act, which begins with "=" and names
// key, source, action, supplier and how the request begins, with tabs between
// them; then a line for each account: its external number, the rest of the
// request's name, and the detail, unless the line before has the same.
type AuditBatch struct {
	text  []byte
	kind  [5]string // of the last act: key, source, action, supplier and how the request begins
	last  string    // the detail of the last account of this kind
	Count int
	// Operators is what operators did in the same transaction: they do little,
	// and what they do is found by the account.
	OperatorEntries []AuditEntry
}

// Add writes down one act. What nobody did by name is left to who asked for it.
func (a *AuditBatch) Add(by Author, action string, key Key, detail string) {
	if by.Operator != "" {
		a.OperatorEntries = append(a.OperatorEntries, AuditEntry{
			Actor: by.Operator, Action: action, Subject: key.Supplier + "/" + key.External, Detail: detail, Source: by.Source, RequestID: by.RequestID,
		})
		return
	}
	if by.KeyID == "" {
		return
	}
	// The lines of a bulk request are named after it, so it stands above them.
	// Every other act has a request of its own, and shares all but that with
	// those beside it.
	request, line := "", by.RequestID
	if slash := strings.LastIndexByte(line, '/'); slash >= 0 {
		request, line = line[:slash], line[slash:]
	}
	if kind := [...]string{by.KeyID, by.Source, action, key.Supplier, request}; kind != a.kind {
		for i, field := range kind {
			mark := byte('\t')
			if i == 0 {
				mark = '='
			}
			a.text = appendField(append(a.text, mark), field)
		}
		a.text, a.kind, a.last = append(a.text, '\n'), kind, ""
	}
	a.text = appendField(append(appendField(append(a.text, ' '), key.External), '\t'), line)
	if detail != a.last {
		a.text, a.last = appendField(append(a.text, '\t'), detail), detail
	}
	a.text = append(a.text, '\n')
	a.Count++
}

// String gives all of it as it is kept.
func (a *AuditBatch) String() string { return string(a.text) }

// What would look like the end of a field or line is written in another way.
var (
	fields   = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)
	unfields = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n")
)

func appendField(text []byte, field string) []byte {
	if strings.ContainsAny(field, "\\\t\n") {
		field = fields.Replace(field)
	}
	return append(text, field...)
}

// Expand gives an entry for each thing that was done. What cannot be read is
// left out: verifying the chain says what is wrong.
func (e AuditEntry) Expand() []AuditEntry {
	if e.Batch == "" {
		return []AuditEntry{e}
	}
	var all []AuditEntry
	var kind AuditEntry
	var supplier, request string
	for line := range strings.Lines(e.Batch) {
		parts := strings.Split(strings.TrimSuffix(line[1:], "\n"), "\t")
		for i := range parts {
			parts[i] = unfields.Replace(parts[i])
		}
		switch {
		case line[0] == '=' && len(parts) == 5:
			kind = AuditEntry{ID: e.ID, At: e.At, Actor: "key:" + parts[0], Source: parts[1], Action: parts[2]}
			supplier, request = parts[3], parts[4]
		case line[0] == ' ' && (len(parts) == 2 || len(parts) == 3):
			if len(parts) == 3 {
				kind.Detail = parts[2]
			}
			act := kind
			act.Subject, act.RequestID = supplier+"/"+parts[0], request+parts[1]
			all = append(all, act)
		}
	}
	return all
}
