// Package filelock locks files. The operating system releases the locks when the
// process ends.
package filelock
