// Package target delivers created accounts, and what is posted to them, to the
// systems that will bill them: at least once, in order per account, side by side
// between accounts. It also has a small target of our own, to try out and to learn
// from, and a check of other people's.
package target

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/shape"
)

// SenderOptions configures a Sender.
type SenderOptions struct {
	delivery.ClientOptions

	// Encode returns the id of a delivery and its JSON.
	Encode func(*landfall.TargetDelivery) (id string, body []byte, err error)
	// Shapes runs the jq programs of targets.
	Shapes *shape.Pool
}

// Sender sends deliveries to targets.
type Sender struct {
	*delivery.Client

	options SenderOptions
}

// NewSender returns a sender.
func NewSender(options SenderOptions) *Sender {
	if options.TimeLimit <= 0 {
		options.TimeLimit = limits.Target
	}
	options.IdlePerHost = MaxAtOnce
	return &Sender{Client: delivery.NewClient(options.ClientOptions), options: options}
}

// MaxAtOnce is how many deliveries of a target run at the same time at most.
const MaxAtOnce = 64

// Close closes connections and ends the processes of jq programs.
func (s *Sender) Close() {
	s.Client.Close()
	s.options.Shapes.Close()
}

// CheckShape returns an error that says what is wrong with a jq program.
func (s *Sender) CheckShape(ctx context.Context, program string) error {
	return s.options.Shapes.Check(ctx, program)
}

// Answer is what a target said about a delivery.
type Answer struct {
	delivery.Outcome

	Verdict  delivery.Verdict
	Pending  bool   // it will confirm or refuse the delivery later
	TargetID string // its name for the account
	Words    string // what it says about a refusal, or why there was no answer
}

// Send sends one delivery.
func (s *Sender) Send(ctx context.Context, target *landfall.Target, d *landfall.TargetDelivery) Answer {
	if d.Problem != "" {
		return Answer{Verdict: delivery.Refused, Words: d.Problem}
	}
	id, body, err := s.options.Encode(d)
	if err != nil {
		return Answer{Verdict: delivery.Refused, Words: err.Error()}
	}
	if target.Shape != "" {
		body, err = s.options.Shapes.Apply(ctx, target.Shape, body)
		if program, is := errors.AsType[*shape.ProgramError](err); is {
			return Answer{Verdict: delivery.Refused, Words: program.Detail}
		}
		if err != nil {
			return Answer{Verdict: delivery.Failed, Outcome: delivery.Outcome{Reason: err.Error()}, Words: err.Error()}
		}
	}
	message := &delivery.Message{Method: http.MethodPut, URL: address(target, d.Number, ""), ID: id, Body: body}
	if d.Kind != landfall.DeliverAccount {
		message.Method, message.URL = http.MethodPost, address(target, d.Number, string(d.Kind))
	}
	return s.exchange(ctx, target, message)
}

// Delete asks a target to delete an account. The key is new for every deletion: the
// account may be created with the same number and be deleted again.
func (s *Sender) Delete(ctx context.Context, target *landfall.Target, number string) Answer {
	answer := s.exchange(ctx, target, &delivery.Message{Method: http.MethodDelete, URL: address(target, number, ""), ID: "delete-" + rand.Text()})
	// What is not there has been taken back.
	if answer.Status == http.StatusNotFound || answer.Status == http.StatusGone {
		answer.Verdict, answer.Words, answer.Reason = delivery.Arrived, "", ""
	}
	return answer
}

// address returns the URL of an account, or of a list of it.
func address(target *landfall.Target, number, list string) string {
	text := strings.TrimSuffix(target.URL, "/") + "/accounts/" + url.PathEscape(number)
	if list != "" {
		text += "/" + list
	}
	return text
}

func (s *Sender) exchange(ctx context.Context, target *landfall.Target, message *delivery.Message) Answer {
	message.ContentType, message.Agent, message.Idempotent = "application/json", "Landfall-Target/1", true
	message.Secrets = target.Secrets
	if target.SecretEnv != "" {
		secret, err := delivery.ParseSecret(os.Getenv(target.SecretEnv))
		if err != nil {
			problem := fmt.Sprintf("the environment variable %s of the target cannot be used: %v", target.SecretEnv, err)
			return Answer{Verdict: delivery.Failed, Outcome: delivery.Outcome{Reason: problem}, Words: problem}
		}
		message.Secrets, message.Secret = nil, secret
	}
	return readAnswer(s.Client.Send(ctx, message))
}

// readAnswer says what a response means.
func readAnswer(outcome delivery.Outcome) Answer {
	answer := Answer{Outcome: outcome, Verdict: delivery.Failed, Words: outcome.Reason}
	switch outcome.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusUnprocessableEntity:
		answer.Verdict = delivery.Refused
		if said := words(outcome.Reply); said != "" {
			answer.Words = fmt.Sprintf("it answered %d: %s", outcome.Status, said)
		}
		return answer
	case http.StatusConflict: // it was there already
	default:
		if !outcome.Arrived() {
			return answer
		}
	}
	answer.Verdict, answer.Reason, answer.Words = delivery.Arrived, "", ""
	var read struct {
		TargetID any  `json:"target_id"`
		Pending  bool `json:"pending"`
	}
	decoder := json.NewDecoder(bytes.NewReader(outcome.Reply))
	decoder.UseNumber()
	if decoder.Decode(&read) == nil {
		switch id := read.TargetID.(type) {
		case string:
			answer.TargetID = shortened(id)
		case json.Number:
			answer.TargetID = shortened(id.String())
		}
		answer.Pending = read.Pending && outcome.Status == http.StatusAccepted
	}
	return answer
}

// words returns the beginning of a text in a response, on one line.
func words(text []byte) string {
	return shortened(strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "�")), " "))
}

// shortened returns at most as much of a text as is kept.
func shortened(text string) string {
	text = strings.ReplaceAll(text, "\x00", "�")
	if len(text) <= limits.TargetReply {
		return text
	}
	cut := limits.TargetReply - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
