// Command client moves an account with the client that oapi-codegen makes of
// the API description: go run . SERVER API-KEY SUPPLIER EXTERNAL
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/oapi-codegen/runtime/types"
)

func main() {
	if err := move(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func move(ctx context.Context, server, key, supplier, external string) error {
	token := ""
	client, err := NewClientWithResponses(server, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Token "+token)
		}
		return nil
	}))
	if err != nil {
		return err
	}
	granted, err := client.ObtainServiceTokenWithResponse(ctx, TokenRequest{
		Query:     "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token } }",
		Variables: &map[string]any{"key": key},
	})
	if err != nil {
		return err
	}
	token = (*granted.JSON200.Data)["obtainServiceToken"].(map[string]any)["token"].(string)

	family := "Example"
	balance := Money{}
	if err := balance.FromMoney1(1234567.89); err != nil {
		return err
	}
	staged, err := client.StageAccountWithResponse(ctx, &StageAccountParams{}, Account{
		ImportSupplier: supplier, ExternalAccountNumber: external,
		Customers: []Customer{{FamilyName: &family}}, TransferBalance: &balance,
		CurrentStatementTransactions: &[]Transaction{payment("T-1", balance)},
	})
	if err != nil || staged.JSON201 == nil {
		return fmt.Errorf("staging: %v %s", err, staged.Body)
	}
	created, err := client.ProcessAccountWithResponse(ctx, &ProcessAccountParams{}, ProcessRequest{
		ImportSupplierCode: supplier, ExternalAccountNumber: external, OperationsTeamName: "Migration Team",
	})
	if err != nil || created.JSON201 == nil {
		return fmt.Errorf("creating: %v %s", err, created.Body)
	}
	status, err := client.AccountTransferStatusWithResponse(ctx, supplier, external, &AccountTransferStatusParams{})
	if err != nil || status.JSON200 == nil || status.JSON200.Status != TransferStatusStatusCOMPLETED {
		return fmt.Errorf("status: %v %s", err, status.Body)
	}
	var text Money
	if err := text.FromMoney0("1234567.89"); err != nil {
		return err
	}
	posted, err := client.CreateTransactionsWithResponse(ctx, &CreateTransactionsParams{}, TransactionsRequest{
		ImportSupplier: supplier, ExternalAccountNumber: external,
		Transactions: []Transaction{payment("T-2", balance), payment("T-3", text)},
	})
	if err != nil || posted.JSON201 == nil {
		return fmt.Errorf("posting: %v %s", err, posted.Body)
	}
	for _, result := range posted.JSON201.Results {
		if amount := result.TransactionData["amount"]; amount != "1234567.89" {
			return fmt.Errorf("1234567.89 came back as %v", amount)
		}
	}
	fmt.Println(status.JSON200.PlatformAccountNumber)
	return nil
}

func payment(id string, amount Money) Transaction {
	return Transaction{
		TransactionId: id, Type: "PAYMENT", Amount: amount, TransactionDate: types.Date{Time: time.Now().UTC()},
	}
}
