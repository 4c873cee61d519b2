package simulator

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// whole is a kubelet with all that there is.
func whole() Kubelet {
	return Kubelet{
		Labels:  map[string]string{"a": "1", "b/c": "", "d": "x=y"},
		Taints:  []corev1.Taint{{Key: "k", Value: "v", Effect: "NoSchedule"}, {Key: "l", Effect: "NoExecute"}},
		MaxPods: 250, KubeReserved: map[string]string{"cpu": "100m", "memory": "1Gi"},
		SystemReserved: map[string]string{"memory": "512Mi"},
		EvictionHard:   map[string]string{"memory.available": "256Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%"},
	}
}

func TestKubeletFlagsAreRead(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ParseKubeletFlags(`--node-labels="a=1,b/c=,d=x=y" --register-with-taints=k=v:NoSchedule,l:NoExecute`,
		"--max-pods=250 --kube-reserved=cpu=100m,memory=1Gi", "--system-reserved='memory=512Mi'",
		"--v=2 --cloud-provider=external",
		"--eviction-hard=memory.available<256Mi,nodefs.available<10%,nodefs.inodesFree<5%")).
		To(Equal(whole()))
	g.Expect(ParseKubeletFlags()).To(Equal(Kubelet{}))
	_, err := ParseKubeletFlags("--max-pods=many --node-labels=a --register-with-taints=b",
		"--eviction-hard=memory.available=1Gi")
	g.Expect(err).To(MatchError(And(
		ContainSubstring(`kubelet flag --max-pods=many: `), ContainSubstring(`--node-labels=a: "a" is not key=value`),
		ContainSubstring(`taint "b" is not key=value:effect`), ContainSubstring(`"memory.available=1Gi" is not key<value`),
	)))
}

func TestAKubeletIsPartOfAKubeletConfiguration(t *testing.T) {
	g := NewWithT(t)
	var k Kubelet
	g.Expect(yaml.Unmarshal([]byte("{maxPods: 7, registerWithTaints: [{key: k, effect: NoExecute}], "+
		"kubeReserved: {cpu: 1m}, systemReserved: {cpu: 2m}, evictionHard: {memory.available: 5%}}"), &k)).To(Succeed())
	g.Expect(k).To(Equal(Kubelet{
		Taints: []corev1.Taint{{Key: "k", Effect: "NoExecute"}}, MaxPods: 7, KubeReserved: map[string]string{"cpu": "1m"},
		SystemReserved: map[string]string{"cpu": "2m"}, EvictionHard: map[string]string{"memory.available": "5%"},
	}))
}

func TestWhatIsLeftForPods(t *testing.T) {
	g := NewWithT(t)
	capacity := corev1.ResourceList{
		"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "ephemeral-storage": resource.MustParse("20Gi"),
		"nvidia.com/gpu": resource.MustParse("1"),
	}
	left := func(k Kubelet) map[string]string {
		n, err := k.Node(capacity)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(n.Capacity).To(And(HaveLen(5), HaveKeyWithValue(corev1.ResourceCPU, resource.MustParse("4"))))
		amounts := map[string]string{}
		for name, q := range n.Allocatable {
			amounts[string(name)] = q.String()
		}
		return amounts
	}
	g.Expect(left(whole())).To(Equal(map[string]string{
		"cpu": "3900m", "memory": "14592Mi", "ephemeral-storage": "18Gi", "pods": "250", "nvidia.com/gpu": "1",
	}))
	g.Expect(left(Kubelet{})).To(Equal(map[string]string{
		"cpu": "4", "memory": "16284Mi", "ephemeral-storage": "18Gi", "pods": "110", "nvidia.com/gpu": "1",
	}), "the kubelet has defaults")
	g.Expect(left(Kubelet{KubeReserved: map[string]string{"cpu": "5"}, EvictionHard: map[string]string{}})).
		To(And(HaveKeyWithValue("cpu", "0"), HaveKeyWithValue("memory", "16Gi")), "less than nothing can't be left")
	g.Expect(capacity).To(HaveLen(4), "it is the caller's")

	n, err := whole().Node(corev1.ResourceList{"pods": resource.MustParse("10")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Labels).To(Equal(whole().Labels))
	g.Expect(n.Taints).To(Equal(whole().Taints))
	g.Expect(n.Capacity.Pods().Value()).To(Equal(int64(250)), "--max-pods is what counts")

	_, err = Kubelet{
		KubeReserved: map[string]string{"cpu": "much"}, EvictionHard: map[string]string{"memory.available": "some%"},
	}.Node(capacity)
	g.Expect(err).To(MatchError(And(ContainSubstring(`the kubelet's kubeReserved: cpu "much": `),
		ContainSubstring(`the kubelet's evictionHard: memory "some%": not a percentage: `))))
}
