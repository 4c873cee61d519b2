package sdktest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// cloud is as much of Google's as the client asks for.
type cloud struct {
	mu     sync.Mutex
	named  []string // of instances
	called []string // methods and hosts
	tokens []string // that calls came with
	plain  []string // calls without TLS, or for another host than in the handshake
}

// ServeHTTP answers a call.
func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.TLS == nil || r.TLS.ServerName != r.Host {
		c.plain = append(c.plain, r.Method+" "+r.Host)
	}
	c.called = append(c.called, r.Method+" "+r.Host)
	if r.Host == "compute.googleapis.com" {
		c.tokens = append(c.tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}
	done := map[string]any{"name": "insert", "status": "DONE", "zone": "z"}
	const instances = "compute.googleapis.com/compute/v1/projects/p/zones/z/instances"
	answers := map[string]func() any{
		"POST oauth2.googleapis.com/token": func() any {
			return map[string]any{"access_token": "simulated", "token_type": "Bearer", "expires_in": 3600}
		},
		"POST " + instances: func() any {
			var one struct{ Name string }
			_ = json.NewDecoder(r.Body).Decode(&one) // a nameless instance is not found
			c.named = append(c.named, one.Name)
			return map[string]any{"name": "insert", "status": "RUNNING", "zone": "z"}
		},
		"POST compute.googleapis.com/compute/v1/projects/p/zones/z/operations/insert/wait": func() any { return done },
		"GET compute.googleapis.com/compute/v1/projects/p/zones/z/operations/insert":       func() any { return done },
		"GET " + instances + "/a": func() any { return map[string]any{"name": c.named[0]} },
		"GET " + instances: func() any {
			items := []any{}
			for _, name := range c.named {
				items = append(items, map[string]any{"name": name})
			}
			return map[string]any{"items": items}
		},
	}
	answer, known := answers[r.Method+" "+r.Host+r.URL.Path]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer()) // the client may have gone
}

// start serves a cloud as the harness does, by a CA of its own, and returns its address and the CA's certificate.
func start(t *testing.T, c http.Handler) (address, ca string) {
	t.Helper()
	g := NewWithT(t)
	folder := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	ca = filepath.Join(folder, "ca.crt")
	g.Expect(write(ca, "CERTIFICATE", cert)).To(Succeed())
	g.Expect(write(filepath.Join(folder, "ca.key"), "PRIVATE KEY", private)).To(Succeed())
	t.Setenv("PLUMBLINE_CA", folder)

	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	address = free.Addr().String()
	g.Expect(free.Close()).To(Succeed())
	ended := make(chan error, 1)
	go func() { ended <- simulator.Serve(t.Context(), address, c) }()
	t.Cleanup(func() { g.Eventually(ended).Should(Receive(BeNil())) })
	g.Eventually(func() error {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err
	}).Should(Succeed())
	return address, ca
}

func write(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// credentials writes a service account's file, as $GOOGLE_APPLICATION_CREDENTIALS names it.
func credentials(t *testing.T) (file string) {
	t.Helper()
	g := NewWithT(t)
	const bits = 2048
	key, err := rsa.GenerateKey(rand.Reader, bits)
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	text, err := json.Marshal(map[string]string{
		"type": "service_account", "project_id": "p", "client_email": "a@p.iam.gserviceaccount.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":   "https://oauth2.googleapis.com/token",
	})
	g.Expect(err).NotTo(HaveOccurred())
	file = filepath.Join(t.TempDir(), "credentials.json")
	g.Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
	return file
}

// newAPIServer starts an API server with a CA that only clients of its cluster know. It returns its address and the
// file with that CA.
func newAPIServer(t *testing.T) (address, ca string) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"gitVersion": "v1.36.3"}) // the client may have gone
	}))
	t.Cleanup(server.Close)
	ca = filepath.Join(t.TempDir(), "ca.crt")
	NewWithT(t).Expect(write(ca, "CERTIFICATE", server.Certificate().Raw)).To(Succeed())
	return server.Listener.Addr().String(), ca
}

// run runs the client with nothing in its environment but what is given, credentials, and what it needs for the API
// server.
func run(t *testing.T, environment ...string) (f findings, err error) {
	t.Helper()
	g := NewWithT(t)
	program, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	address, ca := newAPIServer(t)
	client := exec.CommandContext(t.Context(), program)
	client.Env = append(environment, "HOME="+t.TempDir(), "GOOGLE_APPLICATION_CREDENTIALS="+credentials(t),
		apiServerVariable+"="+address, apiCAVariable+"="+ca)
	var told bytes.Buffer
	client.Stderr = &told
	out, err := client.Output()
	if err != nil {
		t.Log(told.String())
		return f, err
	}
	g.Expect(json.Unmarshal(out, &f)).To(Succeed(), string(out))
	return f, nil
}

// needsEnvironment skips a test where Go takes roots from the system alone.
func needsEnvironment(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("Go reads SSL_CERT_FILE on Linux; on " + runtime.GOOS + " it asks the system")
	}
}

func TestAClientWithoutAnEndpointReachesTheSimulator(t *testing.T) {
	needsEnvironment(t)
	g, c := NewWithT(t), &cloud{}
	address, ca := start(t, c)
	f, err := run(t, "HTTPS_PROXY=http://"+address, "NO_PROXY="+apiServer+",kubernetes,.svc", "SSL_CERT_FILE="+ca)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f).To(Equal(findings{Got: []string{"a"}, Listed: []string{"a"}, APIServer: "v1.36.3"}))
	g.Expect(c.plain).To(BeEmpty(), "everything comes by TLS, for the host that is meant")
	g.Expect(c.tokens).To(HaveEach("simulated"))
	g.Expect(c.called).To(And(ContainElements("POST oauth2.googleapis.com", "GET compute.googleapis.com"),
		HaveEach(HaveSuffix(".googleapis.com"))), "the API server is not asked through the proxy")
}

// Without NO_PROXY the simulator would answer for the API server, by a CA that client-go doesn't trust.
func TestTheAPIServerIsLostWithoutNoProxy(t *testing.T) {
	needsEnvironment(t)
	g, c := NewWithT(t), &cloud{}
	address, ca := start(t, c)
	f, err := run(t, "HTTPS_PROXY=http://"+address, "SSL_CERT_FILE="+ca)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Got).To(Equal([]string{"a"}))
	g.Expect(f.APIError).To(ContainSubstring("certificate"))
}

func TestAClientThatDoesNotTrustTheCAIsRefused(t *testing.T) {
	needsEnvironment(t)
	g, c := NewWithT(t), &cloud{}
	address, _ := start(t, c)
	_, err := run(t, "HTTPS_PROXY=http://"+address)
	g.Expect(err).To(HaveOccurred())
	g.Expect(c.called).To(BeEmpty())
}
