// Package crashtest judges the service by what its callers saw. Tests write down
// what they are about to ask and what was answered; when the run is over, the
// judge compares this history with everything that can be found, through the
// API and through the store, and names every promise that was broken:
//
//   - an answered effect is there exactly once;
//   - an unanswered one is there once or not at all, and always whole;
//   - nothing is there that nobody asked for, a dry run's work least of all;
//   - who asks after an answer came is never told the contrary;
//   - an account has one number everywhere, and its balance is its ledger's sum;
//   - an attempt that was answered has its record, whatever came of it, and so
//     has a staging that was refused;
//   - an account is taken back whole or kept, never one that was added to, and
//     its number is nobody's again.
//
// It knows nothing of how a run was disturbed, so one judge serves kills,
// signals, races and whatever is thought of next. Only tests use it.
package crashtest
