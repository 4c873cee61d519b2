package install

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plumbline-e2e/plumbline/providers"
)

const (
	// caName is the name of the Secret with the simulator's CA.
	caName = "plumbline-ca"
	caCert = "ca.crt"
	caKey  = "ca.key"
	// caVariable is the environment variable with the folder of the simulator's CA.
	caVariable = "PLUMBLINE_CA"
	// caYears is how long before and after now a CA is valid: the clocks of clusters are moved.
	caYears = 50
)

// authority is a certificate authority, in PEM. Its key is as secret as the cluster is: nobody
// else trusts it.
type authority struct{ cert, key []byte }

// authorityOf makes a CA for a simulator that serves TLS. For any other it returns nil.
func authorityOf(s *providers.Simulator) (*authority, error) {
	if !s.HasCA() {
		return nil, nil //nolint:nilnil // there is none
	}
	return newAuthority()
}

// newAuthority makes a CA.
func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("a key for the simulator's CA: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("a serial number for the simulator's CA: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "Plumbline's simulated cloud"},
		NotBefore: time.Now().AddDate(-caYears, 0, 0), NotAfter: time.Now().AddDate(caYears, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign, BasicConstraintsValid: true, IsCA: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("the simulator's CA: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("the simulator's CA: %w", err)
	}
	return &authority{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}, nil
}

// give gives the CA to a server. It returns the Secret of that name, which holds it.
func (a *authority) give(pod *corev1.Pod, meta metav1.ObjectMeta, name string) *corev1.Secret {
	meta.Name = name
	giveSecret(pod, name, providers.CAFolder, caVariable, providers.CAFolder)
	return &corev1.Secret{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}, ObjectMeta: meta,
		Data: map[string][]byte{caCert: a.cert, caKey: a.key},
	}
}

// proxied returns the environment in which a controller reaches its cloud through the
// simulator, and the API server without it. The node's kubelet knows the API server's address
// inside the cluster.
func proxied(v providers.Values) map[string]string {
	direct := []string{
		"$(KUBERNETES_SERVICE_HOST)", "kubernetes", "kubernetes.default", ".svc", ".cluster.local",
		"localhost", "127.0.0.0/8", "::1",
	}
	if u, err := url.Parse(v.Endpoint); err == nil && u.Hostname() != "" {
		direct = append(direct, u.Hostname())
	}
	if host, _, err := net.SplitHostPort(v.Simulator); err == nil {
		direct = append(direct, host)
	}
	return map[string]string{
		"HTTPS_PROXY":   "http://" + v.Simulator,
		"NO_PROXY":      strings.Join(direct, ","),
		"SSL_CERT_FILE": v.CAFile,
	}
}
