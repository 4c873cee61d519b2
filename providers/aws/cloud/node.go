package cloud

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// nodeConfig holds the part of nodeadm's configuration that a kubelet registers with.
// Source: https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/.
type nodeConfig struct {
	Spec struct {
		Kubelet struct {
			Config simulator.Kubelet `json:"config"`
			Flags  []string          `json:"flags"`
		} `json:"kubelet"`
	} `json:"spec"`
}

// nodeConfigType is the content type of nodeadm's configuration in user data.
const nodeConfigType = "application/node.eks.aws"

// readUserData returns nodeadm's configuration from an instance's user data.
func readUserData(encoded string) (c nodeConfig, err error) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return c, fmt.Errorf("the user data is not base64: %w", err)
	}
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return c, fmt.Errorf("the user data is no MIME archive: %w", err)
	}
	_, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		return c, fmt.Errorf("the user data is no MIME archive: %w", err)
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return c, errors.New("the user data has no part of type " + nodeConfigType)
		}
		if err != nil {
			return c, err
		}
		if !strings.HasPrefix(part.Header.Get("Content-Type"), nodeConfigType) {
			continue
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return c, err
		}
		return c, yaml.Unmarshal(text, &c)
	}
}

// Node returns the Node that the instance registers, as an EKS node of Amazon Linux 2023.
func (i *Instance) Node() (simulator.Node, error) {
	n := simulator.Node{Name: i.PrivateDNS(), ProviderID: i.ProviderID()}
	config, err := readUserData(i.UserData)
	if err != nil {
		return n, err
	}
	flags, err := simulator.ParseKubeletFlags(config.Spec.Kubelet.Flags...)
	if err != nil {
		return n, err
	}
	kubelet := config.Spec.Kubelet.Config
	kubelet.Labels = map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelArchStable: architecture(i.Type.Arch), corev1.LabelOSStable: "linux",
		corev1.LabelInstanceTypeStable: i.Type.Name, corev1.LabelTopologyZone: i.Subnet.Zone.Name,
		corev1.LabelTopologyRegion: i.cloud.Region(),
		"topology.k8s.aws/zone-id": i.Subnet.Zone.ID,
	}
	maps.Copy(kubelet.Labels, flags.Labels)
	kubelet.MaxPods = cmp.Or(kubelet.MaxPods, int64(i.Type.Pods()))
	kubelet.KubeReserved = with(map[string]string{
		"cpu": reservedCPU(i.Type.VCPUs), "memory": fmt.Sprintf("%dMi", 11*kubelet.MaxPods+255), "ephemeral-storage": "1Gi",
	}, kubelet.KubeReserved)
	kubelet.EvictionHard = with(map[string]string{
		"memory.available": "100Mi", "nodefs.available": "10%",
	}, kubelet.EvictionHard)
	registered, err := kubelet.Node(i.capacity())
	registered.Name, registered.ProviderID = n.Name, n.ProviderID
	return registered, err
}

// with returns nodeadm's defaults with a configuration's own values.
func with(defaults, own map[string]string) map[string]string {
	maps.Copy(defaults, own)
	return defaults
}

// architecture returns Kubernetes' name for one of EC2's architectures.
func architecture(arch string) string {
	if arch == "x86_64" {
		return "amd64"
	}
	return arch
}

// seenMemory is the share of a machine's memory that the kernel and the firmware leave.
const seenMemory = 0.96

// rootDisk is the default size of a root volume, in GiB.
const rootDisk = 20

const mebi = 1 << 20

// capacity returns what the kubelet finds on the machine, and what a device plugin announces.
func (i *Instance) capacity() corev1.ResourceList {
	has := corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewQuantity(int64(i.Type.VCPUs), resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(int64(float64(i.Type.MiB)*seenMemory)*mebi, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(int64(cmp.Or(i.DiskGiB, rootDisk))<<30, resource.BinarySI),
	}
	if d := i.Type.Devices; d != nil {
		has[deviceResource(d)] = *resource.NewQuantity(int64(d.Count), resource.DecimalSI)
	}
	return has
}

func deviceResource(d *Devices) corev1.ResourceName {
	if d.Manufacturer == "AWS" {
		return "aws.amazon.com/neuron"
	}
	return corev1.ResourceName(strings.ToLower(d.Manufacturer) + ".com/gpu")
}

// reservedCPU returns the CPU that nodeadm reserves: 6 % of the first, 1 % of the second,
// 0.5 % of each of the next two, and 0.25 % of each further one.
func reservedCPU(cpus int) string {
	tenths := 0 // of a milli-CPU
	for n := range cpus {
		switch {
		case n == 0:
			tenths += 600
		case n == 1:
			tenths += 100
		case n < 4:
			tenths += 50
		default:
			tenths += 25
		}
	}
	return fmt.Sprintf("%dm", (tenths+9)/10)
}
