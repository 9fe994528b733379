// Package operate holds the operator's verbs: import suppliers, teams,
// organisations, API keys, payment vendors and skip marks. Every change and its audit entry are
// one transaction, and every refusal says what is wrong, where, and what to do.
package operate
