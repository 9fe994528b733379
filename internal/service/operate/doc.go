// Package operate implements what operators do: they manage import suppliers,
// teams, organisations, API keys, payment vendors, webhooks, mails and runs, and
// look up, skip, undo and erase accounts. Each change is written in one
// transaction with its audit entry. Every refusal says what is wrong, where, and
// what to do.
package operate
