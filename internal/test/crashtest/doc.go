// Package crashtest checks the service by what its callers saw. Tests record each
// request before they send it and each response. At the end the checker compares
// this history with everything that the API and the store show, and reports every
// broken promise:
//
//   - an effect that was confirmed is present exactly once;
//   - one without a response is present once or not at all, and always whole;
//   - nothing is present that nobody asked for, least of all effects of a dry run;
//   - no response contradicts an earlier one;
//   - an account has the same number everywhere, and its balance is the sum of its
//     ledger;
//   - every attempt with a response has its record, and so has every staging that
//     was refused;
//   - an undo removes an account as a whole, with what its own delivery added,
//     and never one to which something else was added; its number stays with the
//     account for ever.
//
// The checker does not know how a run was disturbed, so it serves tests of kills,
// signals, races and anything else. Only tests use it.
package crashtest
