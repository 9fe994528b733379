package generate_test

import (
	"testing"

	"landfall/internal/api/contract"
)

// BenchmarkReading does everything that a run does with an account before storing it.
func BenchmarkReading(b *testing.B) {
	contract.WarmUp()
	bodies, size := make([][]byte, 256), 0
	for i := range bodies {
		bodies[i] = order().Draw(i).Account
		size += len(bodies[i])
	}
	supplier := north()
	for far, name := range []string{"read", "read and check", "read, check and bind"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size / len(bodies)))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				account, err := contract.ReadAccount(b.Context(), bodies[i%len(bodies)])
				if err != nil {
					b.Fatal(err)
				}
				if far > 0 && account.Check(supplier, now).Err() != nil {
					b.Fatal("a sound account was refused")
				}
				if far > 1 && account.Data().Key.External == "" {
					b.Fatal("nothing was bound")
				}
				account.Release()
				i++
			}
		})
	}
}
