package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestShowSaysAllThatIsWrong(t *testing.T) {
	g := NewWithT(t)
	g.Expect(showRecording(t.Context(), []string{"-format", "svg", "-from", "noon", "-to", "-3s"})).To(MatchError(And(
		ContainSubstring("FORMAT=svg: use html or perfetto"), ContainSubstring(`FROM="noon": it should be`),
		ContainSubstring(`TO="-3s": it should be`), ContainSubstring("name the recording"))))
	g.Expect(showRecording(t.Context(), []string{"a", "b", "c"})).To(MatchError(ContainSubstring("name the recording")))
}
