package simulator

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
)

func TestWhereASimulatorMayListen(t *testing.T) {
	g := NewWithT(t)
	ended, end := context.WithCancel(t.Context())
	end()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0", "localhost:0"} {
		g.Expect(Serve(ended, address, http.NotFoundHandler())).
			To(Or(Succeed(), MatchError(context.Canceled), MatchError(ContainSubstring("assign"))), address)
	}
	for _, address := range []string{":4566", "0.0.0.0:4566", "192.0.2.1:4566", "4566"} {
		g.Expect(Serve(ended, address, http.NotFoundHandler())).To(MatchError(ContainSubstring("address")), address)
	}
}

// makeCA writes ca.crt and ca.key, valid for a century, into a folder.
func makeCA(t *testing.T, isCA bool) (folder string, pool *x509.CertPool) {
	t.Helper()
	g := NewWithT(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: isCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().AddDate(-50, 0, 0), NotAfter: time.Now().AddDate(50, 0, 0),
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	der, err := x509.MarshalPKCS8PrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	folder, pool = t.TempDir(), x509.NewCertPool()
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	g.Expect(os.WriteFile(filepath.Join(folder, "ca.crt"), crt, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "ca.key"),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)).To(Succeed())
	g.Expect(pool.AppendCertsFromPEM(crt)).To(BeTrue())
	return folder, pool
}

// starts serves a handler that answers with the host that was meant. It returns the address.
func starts(t *testing.T) (address string) {
	t.Helper()
	g := NewWithT(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	address = free.Addr().String()
	g.Expect(free.Close()).To(Succeed())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.Proto, " ", r.TLS != nil, " ", r.Host)
		}))
	}()
	t.Cleanup(func() {
		stop()
		g.Eventually(ended).Should(Receive(BeNil()))
	})
	g.Eventually(func() error {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err
	}).Should(Succeed())
	return address
}

func TestOnePortServesTLSAndPlainHTTPAndConnections(t *testing.T) {
	folder, pool := makeCA(t, true)
	t.Setenv(authorityVariable, folder)
	address := starts(t)
	_, port, _ := net.SplitHostPort(address)
	proxy := http.ProxyURL(&url.URL{Scheme: "http", Host: address})
	century := time.Now().AddDate(49, 0, 0)
	for name, row := range map[string]struct {
		url       string
		transport *http.Transport
		want      string
	}{
		"plain":   {"http://" + address, &http.Transport{}, "HTTP/1.1 false " + address},
		"address": {"https://" + address, &http.Transport{}, "HTTP/1.1 true " + address},
		"name":    {"https://localhost:" + port, &http.Transport{}, "HTTP/1.1 true localhost:" + port},
		"HTTP/2":  {"https://" + address, &http.Transport{ForceAttemptHTTP2: true}, "HTTP/2.0 true " + address},
		"proxy, HTTPS": {
			"https://compute.googleapis.com/a", &http.Transport{Proxy: proxy}, "HTTP/1.1 true compute.googleapis.com",
		},
		"proxy, an address": {"https://192.0.2.1/a", &http.Transport{Proxy: proxy}, "HTTP/1.1 true 192.0.2.1"},
		"proxy, HTTP": {
			"http://metadata.google.internal/", &http.Transport{Proxy: proxy}, "HTTP/1.1 false metadata.google.internal",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			row.transport.TLSClientConfig = &tls.Config{
				RootCAs: pool, MinVersion: tls.VersionTLS12, Time: func() time.Time { return century },
			}
			defer row.transport.CloseIdleConnections()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.url, nil)
			g.Expect(err).NotTo(HaveOccurred())
			response, err := row.transport.RoundTrip(request)
			g.Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(body)).To(Equal(row.want))
		})
	}
}

func TestCertificatesAreKept(t *testing.T) {
	g := NewWithT(t)
	folder, pool := makeCA(t, true)
	a, err := readAuthority(folder)
	g.Expect(err).NotTo(HaveOccurred())
	first, err := a.certificate("a.example")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(a.certificate("a.example")).To(BeIdenticalTo(first))
	other, err := a.certificate("b.example")
	g.Expect(err).NotTo(HaveOccurred())
	leaf, err := x509.ParseCertificate(other.Certificate[0])
	g.Expect(err).NotTo(HaveOccurred())
	_, err = leaf.Verify(x509.VerifyOptions{DNSName: "b.example", Roots: pool, CurrentTime: time.Now().AddDate(-49, 0, 0)})
	g.Expect(err).NotTo(HaveOccurred())
}

func TestCAsThatAreNone(t *testing.T) {
	g := NewWithT(t)
	folder, _ := makeCA(t, false)
	for wrong, folder := range map[string]string{
		"reading ca.crt and ca.key in $PLUMBLINE_CA: open ": t.TempDir(),
		"is not a CA": folder,
	} {
		t.Setenv(authorityVariable, folder)
		g.Expect(Serve(t.Context(), "127.0.0.1:0", http.NotFoundHandler())).To(MatchError(ContainSubstring(wrong)))
	}
}

func TestTLSWithoutACAIsTold(t *testing.T) {
	g := NewWithT(t)
	told := gbytes.NewBuffer()
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(told, nil)))
	defer slog.SetDefault(before)
	_, err := (&tls.Dialer{}).DialContext(t.Context(), "tcp", starts(t))
	g.Expect(err).To(HaveOccurred())
	g.Eventually(told).Should(gbytes.Say("a client speaks TLS, but the simulator has no CA"))
}
