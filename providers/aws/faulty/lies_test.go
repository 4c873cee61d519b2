package faulty

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCodeAndMetadataAgree(t *testing.T) {
	g := NewWithT(t)
	text, err := os.ReadFile("../../faulty/lies/aws.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var said []string
	for _, m := range regexp.MustCompile(`(?m)^- name: (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		said = append(said, m[1])
	}
	g.Expect(said).To(ConsistOf(names()))
	_, err = Tell("tells-the-truth", http.NotFoundHandler())
	g.Expect(err).To(MatchError(ContainSubstring("ends-instances-late")))
}

// region is a cloud that answers calls as it is told, and remembers them.
type region struct {
	calls  []url.Values
	answer func(call url.Values, w http.ResponseWriter)
}

func (r *region) ServeHTTP(w http.ResponseWriter, h *http.Request) {
	body, _ := io.ReadAll(h.Body)
	call, _ := url.ParseQuery(string(body))
	r.calls = append(r.calls, call)
	r.answer(call, w)
}

// launches returns the client tokens of the launches, in their order.
func (r *region) launches() (tokens []string) {
	for _, call := range r.calls {
		if call.Get("Action") == "CreateFleet" {
			tokens = append(tokens, call.Get("ClientToken"))
		}
	}
	return tokens
}

const (
	first  = "i-00000000000000001"
	second = "i-00000000000000002"
	third  = "i-00000000000000003"
)

// asked returns what a call gets from the region through a lie, or "lost".
func asked(t *testing.T, lie string, r *region, calls ...string) (answers []string) {
	t.Helper()
	told, err := Tell(lie, r)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, call := range calls {
		answers = append(answers, func() (answer string) {
			defer func() {
				if recover() == http.ErrAbortHandler { //nolint:errorlint // that very value, as net/http has it
					answer = "lost"
				}
			}()
			w := httptest.NewRecorder()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(call))
			if target, is := strings.CutPrefix(call, "sqs:"); is {
				request.Header.Set("X-Amz-Target", "AmazonSQS."+target)
			}
			told.ServeHTTP(w, request)
			return w.Body.String()
		}())
	}
	return answers
}

const create = "Action=CreateFleet&ClientToken=x&TagSpecification.1.Tag.1.Key=karpenter.sh%2Fnodepool"

func TestAnHonestCallPasses(t *testing.T) {
	for _, lie := range append(names(), "") {
		r := &region{answer: func(_ url.Values, w http.ResponseWriter) { fmt.Fprint(w, "well") }}
		NewWithT(t).Expect(asked(t, lie, r, "Action=DescribeSubnets")).To(Equal([]string{"well"}), lie)
		NewWithT(t).Expect(r.calls).To(HaveLen(1), lie)
	}
}

func TestLaunchesAreRepeated(t *testing.T) {
	lost := func(n int) func(url.Values, http.ResponseWriter) {
		return func(_ url.Values, w http.ResponseWriter) {
			if n--; n >= 0 {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprint(w, first)
		}
	}
	refused := func(n int) func(url.Values, http.ResponseWriter) {
		return func(_ url.Values, w http.ResponseWriter) {
			if n--; n >= 0 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
	}
	unlisted := func(call url.Values, w http.ResponseWriter) {
		if call.Get("Action") == "DescribeInstances" {
			w.WriteHeader(http.StatusBadRequest)
		}
		fmt.Fprint(w, first)
	}
	for _, row := range []struct {
		lie    string
		answer func(url.Values, http.ResponseWriter)
		calls  []string
		want   []string // tokens
	}{
		{"launches-untagged-spares", lost(0), []string{create}, []string{"x", ""}},
		{"launches-untagged-spares", lost(1), []string{create}, []string{"x"}},
		{"launches-again-after-refusals", refused(0), []string{create}, []string{"x"}},
		{
			"launches-again-after-refusals", refused(1),
			[]string{"Action=DescribeSubnets", create, create},
			[]string{"x", "", "x"},
		},
		{"launches-again-when-slow", lost(0), []string{create}, []string{"x"}},
		{"launches-again-unless-listed", lost(0), []string{create}, []string{"x"}},
		{"launches-again-unless-listed", unlisted, []string{create}, []string{"x", ""}},
		{"launches-again-without-answers", lost(0), []string{create}, []string{"x"}},
		{"launches-again-without-answers", lost(2), []string{create}, []string{"x", "", "", ""}},
		{"launches-what-it-gave-up", lost(1), []string{create}, []string{"x"}}, // the provider still waits
	} {
		r := &region{answer: row.answer}
		asked(t, row.lie, r, row.calls...)
		NewWithT(t).Expect(r.launches()).To(Equal(row.want), row.lie)
	}
}

func TestInstancesEndOtherwise(t *testing.T) {
	g := NewWithT(t)
	r := &region{answer: func(_ url.Values, w http.ResponseWriter) { fmt.Fprint(w, first, " ", second) }}
	end := "Action=TerminateInstances&InstanceId.1=" + third
	asked(t, "ends-the-oldest-as-well", r, end, end)
	ended := slices.DeleteFunc(r.calls, func(c url.Values) bool { return c.Get("Action") != "TerminateInstances" })
	g.Expect(ended).To(HaveLen(2))
	g.Expect(ended[0].Get("InstanceId.2")).To(Equal(first))
	g.Expect(ended[1].Has("InstanceId.2")).To(BeFalse(), "only once")

	r = &region{answer: func(url.Values, http.ResponseWriter) {}}
	g.Expect(asked(t, "ends-no-strangers", r, end)).To(ConsistOf(ContainSubstring(third)))
	g.Expect(r.calls).To(HaveLen(1), "it looks for the tags")

	r = &region{}
	g.Expect(asked(t, "ends-instances-late", r, end)).To(ConsistOf(ContainSubstring("InternalError")))
	g.Expect(r.calls).To(BeEmpty())
}

func TestAnnouncementsAreMistaken(t *testing.T) {
	r := &region{answer: func(_ url.Values, w http.ResponseWriter) {
		fmt.Fprintf(w, `{"Messages":[{"Body":%q,"MD5OfBody":"x","MessageId":"1"}]}`, rebalance)
	}}
	got := asked(t, "takes-rebalances-for-interruptions", r, "sqs:ReceiveMessage")
	NewWithT(t).Expect(got[0]).To(MatchJSON(
		`{"Messages":[{"Body":"` + interruption + `","MD5OfBody":"b213a47d3e95128d243d728b603a0785","MessageId":"1"}]}`))
}
