//go:build try

package hostnode_test

import ("testing";"time";"os";"os/signal";"syscall"
"k8s.io/client-go/tools/clientcmd"
"github.com/plumbline-e2e/plumbline/e2e/cluster/local/hostnode"
"github.com/plumbline-e2e/plumbline/e2e/image"
)
func TestTry(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil { t.Fatal(err) }
	at := time.Now()
	ref, err := image.FromBinary(t.Context(), os.Getenv("TRYDIR")+"/img", os.Getenv("BIN"), nil, "65532")
	if err != nil { t.Fatal(err) }
	t.Logf("FromBinary %s %s", ref, time.Since(at)); at = time.Now()
	n, err := hostnode.Start(t.Context(), hostnode.Options{Config: config, Dir: os.Getenv("TRYDIR")+"/node", Logs: os.Getenv("TRYDIR")+"/logs", Isolation: hostnode.Isolation(os.Getenv("TRYISO"))})
	if err != nil { t.Fatal(err) }
	t.Logf("Start %s", time.Since(at)); at = time.Now()
	name, err := n.Load(t.Context(), ref)
	if err != nil { t.Fatal(err) }
	t.Logf("Load %s", time.Since(at))
	t.Logf("%s isolation %s", name, n.Isolation())
	if err := os.WriteFile(os.Getenv("TRYDIR")+"/name", []byte(name), 0o644); err != nil { t.Fatal(err) }
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	<-c
	at = time.Now()
	if err := n.Close(t.Context()); err != nil { t.Fatal(err) }
	t.Logf("Close %s", time.Since(at))
}
