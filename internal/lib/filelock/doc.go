// Package filelock takes locks of files that the operating system gives back
// when a process ends, however it ends.
package filelock
