package main

import "github.com/plumbline-e2e/plumbline/e2e"

// part returns what of a list is in a shard.
func part[T any](s e2e.Shard, all []T) (part []T) {
	for i, x := range all {
		if s.Has(i) {
			part = append(part, x)
		}
	}
	return part
}
