package cloud

import (
	"math"
	"strconv"
	"strings"
)

// group is the label prefix of the EC2NodeClass API.
const group = "karpenter.k8s.aws/"

// Labels returns the labels that the instance's Node gets from its type in the catalogue.
// Source: https://karpenter.sh/docs/reference/instance-types, labels of the EC2NodeClass API.
func (i *Instance) Labels() map[string]string {
	t := i.Type
	_, size, _ := strings.Cut(t.Name, ".")
	family := t.Family()
	letters := strings.IndexAny(family, "0123456789")
	has := map[string]string{
		"instance-cpu": strconv.Itoa(t.VCPUs), "instance-memory": strconv.Itoa(t.MiB), "instance-family": family,
		"instance-size":     size,
		"instance-category": family[:letters], "instance-generation": family[letters : letters+1],
		"instance-cpu-manufacturer":                strings.ToLower(t.Manufacturer),
		"instance-cpu-sustained-clock-speed-mhz":   strconv.Itoa(int(math.Round(t.GHz * 1000))),
		"instance-ebs-bandwidth":                   strconv.Itoa(t.EBSMbps),
		"instance-encryption-in-transit-supported": strconv.FormatBool(t.EncryptsInTransit()),
		"instance-hypervisor":                      t.Hypervisor,
	}
	if t.NetworkMbps > 0 {
		has["instance-network-bandwidth"] = strconv.Itoa(t.NetworkMbps)
	}
	if t.DiskGB > 0 {
		has["instance-local-nvme"] = strconv.Itoa(t.DiskGB)
	}
	switch d := t.Devices; {
	case d == nil:
	case d.Manufacturer == "AWS":
		has["instance-accelerator-name"], has["instance-accelerator-manufacturer"] = strings.ToLower(d.Name), "aws"
		has["instance-accelerator-count"] = strconv.Itoa(d.Count)
	default:
		has["instance-gpu-name"], has["instance-gpu-manufacturer"] = strings.ToLower(d.Name), strings.ToLower(d.Manufacturer)
		has["instance-gpu-count"], has["instance-gpu-memory"] = strconv.Itoa(d.Count), strconv.Itoa(d.MiB)
	}
	whole := map[string]string{"node.kubernetes.io/instance-type": t.Name}
	for key, value := range has {
		whole[group+key] = value
	}
	return whole
}
