package contract

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// DeliveryID identifies a delivery to a target permanently, as EventID does for an
// event. It is the delivery's idempotency key.
func DeliveryID(id int64, at time.Time) string {
	return strconv.FormatInt(id, 10) + "-" + strconv.FormatInt(at.UnixMicro(), 36)
}

// ParseDeliveryID returns what a DeliveryID was made of.
func ParseDeliveryID(text string) (id int64, at time.Time, ok bool) {
	place, moment, found := strings.Cut(text, "-")
	id, err := strconv.ParseInt(place, 10, 64)
	micros, timeErr := strconv.ParseInt(moment, 36, 64)
	return id, time.UnixMicro(micros).UTC(), found && err == nil && timeErr == nil && id > 0
}

// EncodeDelivery returns the id and the JSON of a delivery.
func EncodeDelivery(d *landfall.TargetDelivery) (id string, body []byte, err error) {
	id = DeliveryID(d.ID, d.At)
	if d.Kind == landfall.DeliverAccount {
		whole, err := NewWholeAccount(*d.Account)
		if err != nil {
			return id, nil, err
		}
		whole.Delivery = "WAITING"
		return id, WholeAccountBody.Append(nil, whole), nil
	}
	body = rules.AppendText([]byte{'{'}, "import_supplier", d.Key.Supplier)
	body = rules.AppendText(body, "external_account_number", d.Key.External)
	body = rules.AppendText(body, "platform_account_number", d.Number)
	switch d.Kind {
	case landfall.DeliverTransactions:
		body = appendItems(rules.AppendName(body, "transactions"), LedgerEntryBody, d.Lists.Entries)
	case landfall.DeliverStatements:
		body = appendItems(rules.AppendName(body, "statements"), WholeStatementBody, d.Lists.Statements)
	case landfall.DeliverInstructions:
		body = appendItems(rules.AppendName(body, "payment_instructions"), WholeInstructionBody, d.Lists.Instructions)
	default:
		body = appendItems(rules.AppendName(body, "notes"), WholeNoteBody, d.Lists.Notes)
	}
	return id, append(body, '}'), nil
}

func appendItems[T any](dst []byte, body *Body[T], items []T) []byte {
	dst = append(dst, '[')
	for _, item := range items {
		dst = body.Append(rules.AppendComma(dst), item)
	}
	return append(dst, ']')
}

// DeliveryState returns how far the delivery of an account is, as on the wire.
func DeliveryState(state landfall.TargetDeliveryState) string {
	if state == "" {
		return deliveryStates[0]
	}
	return strings.ToUpper(string(state))
}

// deliveryStates are the values of DeliveryState.
var deliveryStates = []string{"NONE", "WAITING", "PENDING", "DELIVERED", "REFUSED"}

// DeliveryBody is a delivery to a target.
var DeliveryBody = &Body[landfall.TargetDelivery]{
	name: "Delivery", doc: "A delivery of an account, or of what was added to it, to a target.",
	members: []bodyMember[landfall.TargetDelivery]{
		stringMember("id", "The same as the `Idempotency-Key` of its requests.", func(d landfall.TargetDelivery) string { return DeliveryID(d.ID, d.At) }),
		stringMember("target", "Code of the target.", func(d landfall.TargetDelivery) string { return d.Target }),
		stringMember("import_supplier", supplierDoc, func(d landfall.TargetDelivery) string { return d.Key.Supplier }),
		stringMember("external_account_number", externalNumberDoc, func(d landfall.TargetDelivery) string { return d.Key.External }),
		stringMember("platform_account_number", accountNumberDoc, func(d landfall.TargetDelivery) string { return d.Number }),
		stringMember("kind", "What is delivered.", func(d landfall.TargetDelivery) string { return string(d.Kind) }).
			withSchema(enumSchema("account", "notes", "transactions", "statements", "payment-instructions")),
		stringMember("state", "", func(d landfall.TargetDelivery) string { return DeliveryState(d.State) }).withSchema(enumSchema(deliveryStates[1:]...)),
		nullableString("target_id", "The target's name for the account.", func(d landfall.TargetDelivery) (string, bool) { return d.TargetID, d.TargetID != "" }),
	},
	example: landfall.TargetDelivery{
		ID: 1042, At: exampleInstant, Target: "BILLING", Key: landfall.Key{Supplier: exampleSupplier, External: exampleExternal},
		Number: exampleNumber, Kind: landfall.DeliverAccount, State: landfall.TargetDelivered, TargetID: "T-1",
	},
}

// ExampleDelivery is an example of a delivery in a state.
func ExampleDelivery(state landfall.TargetDeliveryState) json.RawMessage {
	one := DeliveryBody.example
	if one.State = state; state != landfall.TargetDelivered {
		one.TargetID = ""
	}
	return DeliveryBody.Append(nil, one)
}

// Settlement is the body of a request that confirms or refuses a delivery.
type Settlement struct {
	TargetID string
	Reason   string
}

// ExampleConfirmation and ExampleRefusal are examples of such bodies.
const (
	ExampleConfirmation = `{"target_id": "T-1"}`
	ExampleRefusal      = `{"reason": "unknown tariff"}`
)

var (
	confirmationTable = rules.NewTable("Confirmation", "Confirms a delivery that was pending.",
		rules.Optional("target_id", rules.Line(maxTargetID), "The target's name for the account."))
	refusalTable = rules.NewTable("DeliveryRefusal", "Refuses a delivery that was pending.",
		rules.Required("reason", rules.Line(maxDeliveryReason), "Why, for people."))
)

const (
	maxTargetID       = 200
	maxDeliveryReason = 500
)

// ReadConfirmation reads the body of a confirmation, which may be left out.
func ReadConfirmation(ctx context.Context, body []byte) (Settlement, error) {
	if len(body) == 0 {
		return Settlement{}, nil
	}
	return readSettlement(ctx, confirmationTable, body)
}

// ReadDeliveryRefusal reads the body of a refusal.
func ReadDeliveryRefusal(ctx context.Context, body []byte) (Settlement, error) {
	return readSettlement(ctx, refusalTable, body)
}

func readSettlement(ctx context.Context, table *rules.Table, body []byte) (Settlement, error) {
	document, err := readDocument(ctx, table, body)
	if err != nil {
		return Settlement{}, err
	}
	root := document.Root()
	return Settlement{TargetID: root.Field("target_id").Text(), Reason: root.Field("reason").Text()}, shapeError(document)
}
