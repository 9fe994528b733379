package contract

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// ProcessRequest creates an account from its staged data.
type ProcessRequest struct {
	Key    landfall.Key
	Team   string
	DryRun bool
}

// ReadProcess reads the body of a process request. Its error is a
// *landfall.Error with every violation.
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

// InstructionRequest adds a payment instruction.
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

// shapeError returns the refusal of a request that has no cross-field rules, or
// nil.
func shapeError(document *rules.Document) error {
	if !document.Report().Failed() {
		return nil
	}
	return &landfall.Error{
		Kind: landfall.Invalid, Code: landfall.CodeValidationFailed,
		Detail: detailRequest, Violations: toViolations(document.Report().Errors()),
	}
}

// detailRequest is the detail of a refused request.
const detailRequest = "The request is not valid."

// accountRequest is a request with a list for one account. Cross-field rules
// depend on the supplier's settings, so there are separate steps: read, find the
// supplier by the key, check.
type accountRequest struct {
	body     []byte
	document *rules.Document
}

func readAccountRequest(ctx context.Context, table *rules.Table, body []byte) (accountRequest, error) {
	document, err := readDocument(ctx, table, body)
	return accountRequest{body: body, document: document}, err
}

// Key returns the account's key as far as it could be read.
func (r *accountRequest) Key() landfall.Key { return keyOf(r.document.Root(), "import_supplier") }

// Release allows the memory of the request to be reused. Its body and values
// returned before stay valid.
func (r *accountRequest) Release() { r.document.Release() }

// Body returns the bytes that were sent.
func (r *accountRequest) Body() []byte { return r.body }

func (r *accountRequest) list(name string) *rules.Node { return r.document.Root().Field(name) }

// NotesRequest adds notes to an account.
type NotesRequest struct {
	accountRequest
	schema *Schema
}

// ReadNotes reads the body of a notes request. It returns an error only if the
// body is not a strict JSON object.
func ReadNotes(ctx context.Context, body []byte) (*NotesRequest, error) {
	return plainSchema.ReadNotes(ctx, body)
}

// ReadNotes reads notes with the fields of the supplier's packs.
func (s *Schema) ReadNotes(ctx context.Context, body []byte) (*NotesRequest, error) {
	envelope, err := readAccountRequest(ctx, s.notes, body)
	if err != nil {
		return nil, err
	}
	return &NotesRequest{envelope, s}, nil
}

// Check reports everything that is wrong with the payload. A nil supplier means
// default settings; the caller checks whether the supplier exists.
func (r *NotesRequest) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	c := newChecker(r.document, supplier, now)
	c.notes(r.list("notes"))
	c.packs(r.schema, r.document.Root())
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Notes returns the notes of a valid request, in order.
func (r *NotesRequest) Notes() []landfall.Note { return bindList(r.list("notes"), bindNote) }

// StatementsRequest adds historical statements to an account.
type StatementsRequest struct {
	accountRequest
	schema *Schema
}

// ReadStatements reads the body of a statements request, like ReadNotes.
func ReadStatements(ctx context.Context, body []byte) (*StatementsRequest, error) {
	return plainSchema.ReadStatements(ctx, body)
}

// ReadStatements reads statements with the fields of the supplier's packs.
func (s *Schema) ReadStatements(ctx context.Context, body []byte) (*StatementsRequest, error) {
	envelope, err := readAccountRequest(ctx, s.statements, body)
	if err != nil {
		return nil, err
	}
	return &StatementsRequest{envelope, s}, nil
}

// Check reports everything that is wrong with the payload.
func (r *StatementsRequest) Check(supplier *landfall.Supplier, now time.Time) Verdict {
	c := newChecker(r.document, supplier, now)
	c.statements(r.list("statements"))
	c.decimals(r.document)
	c.packs(r.schema, r.document.Root())
	return c.verdict(landfall.CodeValidationFailed, detailRequest)
}

// Statements returns the statements of a valid request.
func (r *StatementsRequest) Statements() []landfall.Statement {
	return bindList(r.list("statements"), bindStatement)
}
