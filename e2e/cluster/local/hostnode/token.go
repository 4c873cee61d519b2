package hostnode

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Paths of the service account's files in a container: accountDir for in-cluster clients,
// kubeconfigPath for clients that read $KUBECONFIG.
const (
	accountDir     = "/var/run/secrets/kubernetes.io/serviceaccount"
	kubeconfigPath = "/var/run/secrets/plumbline.local/kubeconfig"
)

// tokens holds the tokens of one pod. They are bound to it and end with it.
type tokens struct {
	client kubernetes.Interface

	mu   sync.Mutex
	held map[tokenKind]heldToken
}

type tokenKind struct {
	audience string
	seconds  int64
}

type heldToken struct {
	token string
	renew time.Time
}

// token returns a valid token. It requests a new one when less than a fifth of its life is
// left, or after 24 hours, as the kubelet does.
func (t *tokens) token(ctx context.Context, p *corev1.Pod, want *corev1.ServiceAccountTokenProjection) (string, error) {
	kind := tokenKind{audience: want.Audience, seconds: 3600}
	if want.ExpirationSeconds != nil {
		kind.seconds = *want.ExpirationSeconds
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.held[kind]; ok && time.Now().Before(held.renew) {
		return held.token, nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &kind.seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
	}}
	if kind.audience != "" {
		request.Spec.Audiences = []string{kind.audience}
	}
	account := p.Spec.ServiceAccountName
	now := time.Now()
	answer, err := t.client.CoreV1().ServiceAccounts(p.Namespace).
		CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token of service account %s/%s: %w", p.Namespace, account, err)
	}
	life := min(answer.Status.ExpirationTimestamp.Sub(now)*4/5, 24*time.Hour)
	if t.held == nil {
		t.held = map[tokenKind]heldToken{}
	}
	t.held[kind] = heldToken{token: answer.Status.Token, renew: now.Add(life)}
	return answer.Status.Token, nil
}

// kubeconfig returns a kubeconfig for a service account at a server. It refers to the token's file, which
// clients read again after a renewal.
func kubeconfig(server string, rootCA []byte, namespace, tokenFile string) ([]byte, error) {
	const name = "plumbline"
	return clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: server, CertificateAuthorityData: rootCA}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {TokenFile: tokenFile}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	})
}

// rootCA returns the API server's CA certificate.
func rootCA(config *rest.Config) ([]byte, error) {
	if len(config.CAData) > 0 || config.CAFile == "" {
		return config.CAData, nil
	}
	ca, err := os.ReadFile(config.CAFile)
	if err != nil {
		return nil, fmt.Errorf("certificate of the API server: %w", err)
	}
	return ca, nil
}

// hasAccount reports whether the container has its service account's token at the usual path.
// The ServiceAccount admission mounts it there unless the pod or the account opts out.
func hasAccount(c *corev1.Container) bool {
	for _, m := range c.VolumeMounts {
		if m.MountPath == accountDir {
			return true
		}
	}
	return false
}
