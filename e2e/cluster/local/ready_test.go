package local

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"

	"github.com/plumbline-e2e/plumbline/e2e/cluster/owned"
)

func TestTheLastLinesOfALog(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "log")
	g.Expect(lastLines(path, 2)).To(HaveExactElements(HavePrefix("(no log: ")))
	g.Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	g.Expect(lastLines(path, 2)).To(HaveExactElements(HaveSuffix("is empty)")))
	g.Expect(os.WriteFile(path, []byte("a\nb\nc\n"), 0o600)).To(Succeed())
	g.Expect(lastLines(path, 2)).To(Equal([]string{"b", "c"}))
	g.Expect(lastLines(path, 9)).To(Equal([]string{"a", "b", "c"}))

	long := strings.Repeat("x", tailBytes)
	g.Expect(os.WriteFile(path, []byte("lost\n"+long+"\nlast\n"), 0o600)).To(Succeed())
	g.Expect(lastLines(path, 9)).To(Equal([]string{"last"}), "half a line is none")
}

func TestAComponentThatDiesAtStartSaysWhy(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"port taken": {
			"{\"msg\":\"creating peer listener failed\",\"error\":\"listen tcp 127.0.0.1:20002: bind: address already " +
				"in use\"}\n",
			"etcd can't listen on port 20002, which another process took in the meantime",
		},
		"anything else": {"panic: corrupted\n", "etcd died while it was starting. Its last lines:\npanic: corrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := &owned.Folder{Name: "one", Dir: t.TempDir()}
			s := &starting{kwokctl: &kwokctl{folder: f}}
			g.Expect(os.MkdirAll(s.state("logs"), 0o700)).To(Succeed())
			g.Expect(os.WriteFile(s.logFile(etcd), []byte(test.log), 0o600)).To(Succeed())
			g.Expect(s.diagnose(etcd)).To(MatchError(ContainSubstring(test.want)))
		})
	}
}

func TestTheVersionMustBeTheOneAskedFor(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
	}))
	defer server.Close()
	s := &starting{access: &rest.Config{Host: server.URL}, server: server.Client(), version: "v1.36.3"}
	g.Expect(s.isVersion(t.Context())).To(Succeed())
	s.version = "v1.35.4"
	g.Expect(s.isVersion(t.Context())).To(MatchError("the API server says that it is v1.36.3, not v1.35.4"))
}

func TestNotReadyIsAnError(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "[-]etcd failed", http.StatusInternalServerError)
	}))
	defer server.Close()
	_, err := httpGet(t.Context(), server.Client(), server.URL+"/readyz")
	g.Expect(err).To(MatchError(And(ContainSubstring("500"), ContainSubstring("[-]etcd failed"))))
}
