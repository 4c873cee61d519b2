package record

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery/fake"
	clients "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/plumbline-e2e/plumbline/e2e/build/filelock"
	"github.com/plumbline-e2e/plumbline/e2e/karpenter"
)

var ec2NodeClasses = schema.GroupVersionResource{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"}

// serving returns the discovery of a cluster with Karpenter's API and an instance provider's.
func serving(t *testing.T) *fake.FakeDiscovery {
	t.Helper()
	verbs := metav1.Verbs{"list", "watch"}
	return &fake.FakeDiscovery{Fake: &clienttesting.Fake{Resources: []*metav1.APIResourceList{
		{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "pods", Kind: "Pod", Verbs: verbs}}},
		{GroupVersion: "karpenter.sh/v1", APIResources: []metav1.APIResource{
			{Name: "nodepools", Kind: "NodePool", Verbs: verbs}, {Name: "nodeclaims", Kind: "NodeClaim", Verbs: verbs},
		}},
		{GroupVersion: "karpenter.k8s.aws/v1", APIResources: []metav1.APIResource{
			{Name: "ec2nodeclasses", Kind: "EC2NodeClass", Verbs: verbs},
			{Name: "ec2nodeclasses/status", Kind: "EC2NodeClass", Verbs: metav1.Verbs{"get"}},
		}},
		{GroupVersion: "node.k8s.io/v1", APIResources: []metav1.APIResource{
			{Name: "runtimeclasses", Kind: "RuntimeClass", Verbs: verbs},
		}},
	}}}
}

func TestRecordedIsWhatTheClusterServes(t *testing.T) {
	g := NewWithT(t)
	served := serving(t)
	g.Expect(kindsOf(served)).To(HaveExactElements(append(always, ec2NodeClasses)))

	served.Resources = append(served.Resources, &metav1.APIResourceList{
		GroupVersion: "karpenter.sh/v1alpha1",
		APIResources: []metav1.APIResource{{Name: "nodeoverlays", Kind: "NodeOverlay"}},
	})
	g.Expect(kindsOf(served)).To(HaveExactElements(append(always, ec2NodeClasses, karpenter.NodeOverlays)))

	served.Resources = served.Resources[:1]
	_, err := kindsOf(served)
	g.Expect(err).To(MatchError(ContainSubstring("serves no NodePools of karpenter.sh/v1")))
}

// allowing returns a client of an API server that allows what is so.
func allowing(is func(*authorizationv1.ResourceAttributes) bool) *clients.Clientset {
	client := clients.NewClientset()
	answer := func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		review.Status.Allowed = is(review.Spec.ResourceAttributes)
		return true, review, nil
	}
	client.PrependReactor("create", "selfsubjectaccessreviews", answer)
	return client
}

func TestRightsThatAreMissingAreListed(t *testing.T) {
	g := NewWithT(t)
	client := allowing(func(asked *authorizationv1.ResourceAttributes) bool {
		return asked.Resource != "nodeclaims" && (asked.Resource != "nodes" || asked.Verb == "list")
	})
	c := &Cluster{About: About{Kinds: always}, client: client, options: Options{Folder: t.TempDir()}}
	_, missing, err := c.Rights(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(missing).To(HaveExactElements("list, watch nodeclaims.karpenter.sh", "watch nodes"))
	c.config, err = access(Options{Kubeconfig: kubeconfig(t)})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Record(t.Context())
	g.Expect(err).To(MatchError(And(ContainSubstring("https://127.0.0.1:1"), ContainSubstring("watch nodes"))))
	g.Expect(os.ReadDir(c.options.Folder)).To(BeEmpty(), "nothing begins")
}

// kubeconfig returns the path of one for a server that isn't there.
func kubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	NewWithT(t).Expect(os.WriteFile(file, []byte(`{apiVersion: v1, kind: Config, current-context: c,
		contexts: [{name: c, context: {cluster: c}}], clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]}`),
		0o600)).To(Succeed())
	return file
}

func TestAClusterThatCannotBeReachedIsSaidAtOnce(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for name, c := range map[string]struct {
		options Options
		says    string
	}{
		"none is named":        {Options{}, "--kubeconfig, or KUBECONFIG, must name the file"},
		"no such file":         {Options{Kubeconfig: filepath.Join(t.TempDir(), "none")}, "the kubeconfig: stat"},
		"no such context":      {Options{Kubeconfig: kubeconfig(t), Context: "other"}, `context "other" does not exist`},
		"nobody answers there": {Options{Kubeconfig: kubeconfig(t)}, "the API server https://127.0.0.1:1 does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Connect(c.options)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.says)))
		})
	}
}

func TestAFolderHasOneRecording(t *testing.T) {
	g := NewWithT(t)
	about := About{Kubernetes: "v1.36.3", Redacted: true, Kinds: always}
	c := &Cluster{About: about, options: Options{Folder: t.TempDir()}}
	g.Expect(c.describe()).To(Succeed())
	g.Expect(Read(c.options.Folder)).To(Equal(c.About))
	g.Expect(c.describe()).To(Succeed(), "it goes on")
	c.Redacted = false
	g.Expect(c.describe()).To(MatchError(ContainSubstring("the recording there is redacted, unlike this one")))

	g.Expect(os.WriteFile(filepath.Join(c.options.Folder, aboutFile), []byte("{"), 0o600)).To(Succeed())
	g.Expect(c.describe()).To(MatchError(ContainSubstring(aboutFile)))
	_, err := Read(t.TempDir())
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func TestTwoDoNotRecordIntoOneFolder(t *testing.T) {
	g := NewWithT(t)
	client := allowing(func(*authorizationv1.ResourceAttributes) bool { return true })
	c := &Cluster{About: About{Kinds: always}, client: client, options: Options{Folder: t.TempDir()}}
	held, err := filelock.Try(filepath.Join(c.options.Folder, ".lock"))
	g.Expect(err).NotTo(HaveOccurred())
	defer held.Release()
	_, err = c.Record(t.Context())
	g.Expect(err).To(MatchError(ContainSubstring("another process records into")))
}

func TestTheManifestAllowsNoChange(t *testing.T) {
	g := NewWithT(t)
	text, err := Manifest(Pod{Image: "example/plumbline@sha256:17", Namespace: "watching", Redact: true, Keep: "4Gi"},
		needed(append(always, ec2NodeClasses), true))
	g.Expect(err).NotTo(HaveOccurred())
	objects := map[string]runtime.Object{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		o, kind, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(document), nil, nil)
		g.Expect(err).NotTo(HaveOccurred(), document)
		objects[kind.Kind] = o
	}
	g.Expect(objects).To(HaveLen(6))
	role := objects["ClusterRole"].(*rbacv1.ClusterRole)
	for _, rule := range role.Rules {
		g.Expect(rule.Verbs).To(Or(HaveExactElements("list", "watch"), HaveExactElements("get")))
		g.Expect(rule.Resources).NotTo(ContainElements("secrets", "configmaps"))
	}
	g.Expect(role.Rules).To(ContainElement(And(HaveField("APIGroups", HaveExactElements("karpenter.k8s.aws")),
		HaveField("Resources", HaveExactElements("ec2nodeclasses")))))
	g.Expect(role.Rules).To(ContainElement(HaveField("ResourceNames", HaveExactElements("kube-system"))))

	claim := objects["PersistentVolumeClaim"].(*corev1.PersistentVolumeClaim)
	g.Expect(claim.Spec.Resources.Requests.Storage().String()).To(Equal("5Gi"))
	pod := objects["Deployment"].(*appsv1.Deployment).Spec.Template.Spec
	g.Expect(pod.Containers[0].Args).To(HaveExactElements("record", "--into=/recording", "--keep=4Gi", "--redact"))
	g.Expect(pod.Containers[0].Image).To(Equal("example/plumbline@sha256:17"))
	g.Expect(*pod.SecurityContext.RunAsNonRoot).To(BeTrue())
}

func TestARecordingComesOutAsAnArchive(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	c := &Cluster{options: Options{Folder: folder}}
	g.Expect(c.describe()).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "part.jsonl.gz"), []byte("events"), 0o600)).To(Succeed())
	var out bytes.Buffer
	g.Expect(Archive(&out, folder)).To(Succeed())
	files := map[string]string{}
	for in := tar.NewReader(&out); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		content, err := io.ReadAll(in)
		g.Expect(err).NotTo(HaveOccurred())
		files[header.Name] = string(content)
	}
	g.Expect(files).To(And(HaveLen(2), HaveKey(aboutFile), HaveKeyWithValue("part.jsonl.gz", "events")))
	g.Expect(Archive(&out, t.TempDir())).To(MatchError(ContainSubstring("there is no recording in")))
}

func TestSizes(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ParseSize("4Gi")).To(BeEquivalentTo(4 << 30))
	for _, bad := range []string{"", "much", "-1", "0"} {
		_, err := ParseSize(bad)
		g.Expect(err).To(MatchError(ContainSubstring("it should be like 4Gi")))
	}
}
