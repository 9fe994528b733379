package contract

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// ProcessRequest asks for an account to be created from staged data.
type ProcessRequest struct {
	Key    landfall.Key
	Team   string
	DryRun bool
}

// ReadProcess reads the body of a creation. Its error is a *landfall.Error
// with every violation.
func ReadProcess(ctx context.Context, body []byte) (ProcessRequest, error) {
	document, err := readDocument(ctx, processTable, body)
	if err != nil {
		return ProcessRequest{}, err
	}
	defer document.Release()
	root := document.Root()
	request := ProcessRequest{
		Key:    keyOf(root, "import_supplier_code"),
		Team:   root.Field("operations_team_name").Text(),
		DryRun: root.Field("dry_run").Bool(),
	}
	return request, shapeError(document)
}

// InstructionRequest asks for a payment instruction to be kept.
type InstructionRequest struct {
	Key         landfall.Key
	Instruction landfall.Instruction
}

// ReadInstruction reads the body of a payment instruction. Its error is a
// *landfall.Error with every violation.
func ReadInstruction(ctx context.Context, body []byte) (InstructionRequest, error) {
	document, err := readDocument(ctx, instructionTable, body)
	if err != nil {
		return InstructionRequest{}, err
	}
	defer document.Release()
	root := document.Root()
	request := InstructionRequest{Key: keyOf(root, "import_supplier"), Instruction: bindInstruction(root)}
	return request, shapeError(document)
}

// shapeError refuses a request that no cross-field rule looks at.
func shapeError(document *rules.Document) error {
	if !document.Report().Failed() {
		return nil
	}
	return &landfall.Error{
		Kind: landfall.Invalid, Code: landfall.CodeValidationFailed,
		Detail: detailRequest, Violations: toViolations(document.Report().Errors()),
	}
}

// detailRequest is what a refused request says as a whole.
const detailRequest = "The request is not valid."

// accountRequest is a request with a list for one account. Cross-field rules
// depend on the supplier's settings, so reading and checking are two steps:
// read, find the supplier by the key, check.
type accountRequest struct {
	body     []byte
	document *rules.Document
}

// readAccountRequest reads what all requests for an account have in common.
func readAccountRequest(ctx context.Context, table *rules.Table, body []byte) (accountRequest, error) {
	document, err := readDocument(ctx, table, body)
	return accountRequest{body: body, document: document}, err
}

// Key gives the account's key as far as it could be read.
func (r *accountRequest) Key() landfall.Key { return keyOf(r.document.Root(), "import_supplier") }

// Release says that nothing is asked of the request any more but its body. What
// it has given stays.
func (r *accountRequest) Release() { r.document.Release() }

// Body gives the bytes that were sent.
func (r *accountRequest) Body() []byte { return r.body }

// list gives the list the request is for.
func (r *accountRequest) list(name string) *rules.Node { return r.document.Root().Field(name) }

// NotesRequest brings notes for an account.
type NotesRequest struct{ accountRequest }

// ReadNotes reads the body of a notes import. Its only error is a
// *landfall.Error for bytes that are no strict JSON object.
func ReadNotes(ctx context.Context, body []byte) (*NotesRequest, error) {
	envelope, err := readAccountRequest(ctx, notesTable, body)
	if err != nil {
		return nil, err
	}
	return &NotesRequest{envelope}, nil
}

// Check tells everything that is wrong with the payload. A nil supplier means
// the default settings; whether he exists is the caller's question.
func (r *NotesRequest) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	c := newChecker(r.document, supplier, now)
	c.notes(r.list("notes"))
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Notes gives the notes of a request without errors, in the order sent.
func (r *NotesRequest) Notes() []landfall.Note { return bindList(r.list("notes"), bindNote) }

// StatementsRequest brings historical statements for an account.
type StatementsRequest struct{ accountRequest }

// ReadStatements reads the body of a statements import, as ReadNotes does.
func ReadStatements(ctx context.Context, body []byte) (*StatementsRequest, error) {
	envelope, err := readAccountRequest(ctx, statementsTable, body)
	if err != nil {
		return nil, err
	}
	return &StatementsRequest{envelope}, nil
}

// Check tells everything that is wrong with the payload.
func (r *StatementsRequest) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	c := newChecker(r.document, supplier, now)
	c.statements(r.list("statements"))
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Statements gives the statements of a request without errors.
func (r *StatementsRequest) Statements() []landfall.Statement {
	return bindList(r.list("statements"), bindStatement)
}
