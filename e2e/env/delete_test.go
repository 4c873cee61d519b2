package env

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestWhoDeletesInTheForegroundHasToSaySo(t *testing.T) {
	g := NewWithT(t)
	reason := func(f Failure) string { return f.Reason }
	alive := &Place{Death: func() error { return nil }}
	quiet := &Env{place: alive}
	g.Expect(func() {
		quiet.DeleteInForeground(t.Context())
	}).To(PanicWith(WithTransform(reason, ContainSubstring("the spec doesn't say Foreground"))))
	said := &Env{place: alive, foreground: true}
	g.Expect(func() { said.DeleteInForeground(t.Context()) }).NotTo(Panic())
}
