package main

import (
	"fmt"
	"os"
)

// shard is a part of a list that several machines share: which, from 1, and how many there are.
type shard [2]int

// readShard reads SHARD, such as 2/4. Empty: all.
func readShard() (shard, error) {
	s, text := shard{1, 1}, os.Getenv("SHARD")
	if text == "" {
		return s, nil
	}
	_, err := fmt.Sscanf(text, "%d/%d", &s[0], &s[1])
	if err != nil || s[0] < 1 || s[0] > s[1] {
		return s, fmt.Errorf("SHARD=%s: say which part of how many, such as 2/4", text)
	}
	return s, nil
}

// part returns what of a list is in a shard.
func part[T any](s shard, all []T) (part []T) {
	for i, x := range all {
		if i%s[1] == s[0]-1 {
			part = append(part, x)
		}
	}
	return part
}
