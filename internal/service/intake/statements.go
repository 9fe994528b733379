package intake

import (
	"context"
	"fmt"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/ledger"
)

// PostStatements adds historical statements to an imported account. Sending
// one again unchanged is accepted and changes nothing.
func (s *Service) PostStatements(ctx context.Context, who landfall.Principal, body []byte) (_ Accepted, err error) {
	request, err := contract.ReadStatements(ctx, body)
	if err != nil {
		return Accepted{}, err
	}
	key := request.Key()
	defer func() { err = s.refusePosting(ctx, who, key, landfall.PostingStatements, err) }()
	supplier, err := s.Supplier(ctx, who, request.Key().Supplier)
	if err != nil {
		return Accepted{}, userError(err)
	}
	if supplier != nil && len(supplier.Packs) > 0 {
		schema, err := s.schema(ctx, supplier)
		if err != nil {
			return Accepted{}, userError(err)
		}
		request.Release()
		if request, err = schema.ReadStatements(ctx, body); err != nil {
			return Accepted{}, err
		}
	}
	verdict := request.Check(supplier, s.now())
	if err := verdict.Err(); err != nil {
		return Accepted{}, err
	}
	if supplier == nil {
		return Accepted{}, errNoAccount
	}
	posted := ledger.InUnits(request.Statements(), supplier.StatementAmounts, supplier.Currency)
	// Release before Decide is passed on: it may still run after the caller has left.
	request.Release()
	if err := s.checkPosted(ctx, who, *supplier, key, statementPaths(posted), errNoAccount); err != nil {
		return Accepted{}, err
	}
	ids := make([]string, len(posted))
	for i, statement := range posted {
		ids[i] = statement.ID
	}
	added := 0
	_, err = s.post(ctx, who, landfall.Posting{
		Kind: landfall.PostingStatements, Key: key, By: who.Author(), StatementIDs: ids,
		Decide: func(account landfall.AccountState) (landfall.Additions, error) {
			fresh, conflict := ledger.PostStatements(account.Statements, posted)
			if conflict >= 0 {
				return landfall.Additions{}, refuseStatement(conflict)
			}
			added = len(fresh) // set, not added: Decide may run again
			return landfall.Additions{Statements: fresh, Event: additionEvent(landfall.EventStatementsCreated, key, len(fresh))}, nil
		},
	}, errNoAccount)
	if err != nil {
		return Accepted{}, err
	}
	return Accepted{Body: request.Body(), Added: added, Warnings: verdict.Warnings}, nil
}

// refuseStatement refuses a statement that differs from the existing one.
func refuseStatement(index int) error {
	return landfall.RefuseField(fmt.Sprintf("statements.%d.statement_id", index), landfall.CodeStatementExists,
		"The account has a statement with this statement_id and other content.")
}

// statementPaths returns the document paths of statements with their attrs.
func statementPaths(statements []landfall.Statement) []attrFile {
	var paths []attrFile
	for i, statement := range statements {
		if statement.Path != "" {
			paths = append(paths, attrFile{fmt.Sprintf("statements.%d.statement_path", i), statement.Path})
		}
	}
	return paths
}
