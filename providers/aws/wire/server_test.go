package wire

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/aws/cloud"
	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// A request by curl has no signature, which names the service.
func TestAnUnsignedRequestIsToldWhatIsMissing(t *testing.T) {
	g := NewWithT(t)
	b := simulator.NewBase(t.Context(), nil, simulator.Times{}, 1)
	c, err := cloud.New(b, cloud.Settings{})
	g.Expect(err).NotTo(HaveOccurred())
	w := httptest.NewRecorder()
	body := strings.NewReader("Action=DescribeInstances")
	New(b, c, Cluster{}, "q").ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", body))
	g.Expect(w.Code).To(Equal(http.StatusBadRequest))
	g.Expect(w.Body.String()).To(ContainSubstring("its header Authorization names no service"))
}
