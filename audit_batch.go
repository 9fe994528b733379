package landfall

import "strings"

// AuditBatch collects what organisations do in one transaction into one audit
// entry. An entry for each change would cost as much as the row it is about.
//
// Its text has a header line for each group of changes, which begins with "=" and
// contains key, source, action, supplier and the prefix of the request id,
// separated by tabs. A line for each account follows: its external number, the
// rest of the request id, and the detail, unless the line before has the same.
type AuditBatch struct {
	text  []byte
	kind  [5]string // of the last change: key, source, action, supplier and request prefix
	last  string    // the detail of the last account of this kind
	Count int
	// OperatorEntries are changes by operators in the same transaction. They get
	// entries of their own, so that they are found by the account.
	OperatorEntries []AuditEntry
}

// Add adds one change. A change without an author is left to its caller.
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
	// The lines of a bulk request share its id as their prefix, which goes into the
	// header line. Every other change has a request id of its own.
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

// String returns the batch as it is stored.
func (a *AuditBatch) String() string { return string(a.text) }

// Tabs, line ends and backslashes in escapeFields are escaped.
var (
	escapeFields   = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`)
	unescapeFields = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n")
)

func appendField(text []byte, field string) []byte {
	if strings.ContainsAny(field, "\\\t\n") {
		field = escapeFields.Replace(field)
	}
	return append(text, field...)
}

// Expand returns an entry for each change of a batch. Lines that cannot be parsed
// are left out; verifying the chain reports them.
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
			parts[i] = unescapeFields.Replace(parts[i])
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
