package check

import (
	"fmt"
	"slices"
	"strings"
)

// Words returns a number of things in words, given their plural: "2 nodes of pool x that are
// ready", "1 node of pool x that is ready".
func Words(n int, plural string) string {
	if n == 1 {
		plural = singular(plural)
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// singular turns the name of a Count into the singular: its first word in s, and the verbs
// right after "that", "and" or "or".
func singular(plural string) string {
	words := strings.Fields(plural)
	noun := false
	for i, word := range words {
		switch {
		case !noun && strings.HasSuffix(word, "s"):
			words[i], noun = singularNoun(word), true
		case i > 0 && slices.Contains([]string{"that", "and", "or"}, words[i-1]):
			words[i] = singularVerb(word)
		}
	}
	return strings.Join(words, " ")
}

func singularNoun(noun string) string {
	for _, ending := range []struct{ many, one string }{{"ies", "y"}, {"sses", "ss"}, {"s", ""}} {
		if stem, has := strings.CutSuffix(noun, ending.many); has {
			return stem + ending.one
		}
	}
	return noun
}

func singularVerb(verb string) string {
	switch verb {
	case "are":
		return "is"
	case "have":
		return "has"
	case "were":
		return "was"
	case "stay", "name", "count", "say", "tell":
		return verb + "s"
	default:
		return verb
	}
}
