package cloud

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

//go:embed catalogue.txt
var catalogue string

// Type is an instance type. See catalogue.txt for units and sources.
type Type struct {
	Name         string // such as m5.large
	Arch         string // x86_64 or arm64
	Manufacturer string // of the processor
	GHz          float64
	VCPUs, Cores int
	MiB          int
	Interfaces   int // network interfaces
	IPs          int // IPv4 addresses of each interface
	Branches     int // branch interfaces, for security groups of pods
	EBSMbps      int
	NetworkMbps  int // 0: not known
	DiskGB       int // local NVMe; 0: none
	Devices      *Devices
	Hypervisor   string  // nitro or xen; empty on metal
	Price        float64 // USD per hour on demand
	Zones        []string
}

// Devices holds the accelerators of an instance type, all of one kind.
type Devices struct {
	Manufacturer, Name string
	Count, MiB         int // MiB of each
}

// Family returns the part of the name before the size, such as m5.
func (t *Type) Family() string { family, _, _ := strings.Cut(t.Name, "."); return family }

// Metal reports whether the type is bare metal.
func (t *Type) Metal() bool { return strings.HasSuffix(t.Name, ".metal") }

// Burstable reports whether the type earns CPU credits.
func (t *Type) Burstable() bool { return strings.HasPrefix(t.Name, "t") }

// EncryptsInTransit reports whether traffic between the type's instances is encrypted.
// Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/data-protection.html.
func (t *Type) EncryptsInTransit() bool {
	switch t.Family() {
	case "c5", "c6g", "m5", "m5d", "m6g", "r5", "r6g", "t3", "t4g", "i3", "p3":
		return false
	}
	return true
}

// Pods returns how many pods an instance can run. Each interface keeps one address for itself,
// and two pods share the host's.
// Source: https://github.com/awslabs/amazon-eks-ami, eni-max-pods.txt.
func (t *Type) Pods() int { return t.Interfaces*(t.IPs-1) + 2 }

// SpotPrice returns USD per hour on spot: 28 to 48 % of the price on demand. It depends on the
// zone and never changes.
func (t *Type) SpotPrice(zone string) float64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name + zone))
	share := 0.28 + float64(h.Sum32()%200)/1000
	return float64(int(t.Price*share*10000)) / 10000
}

// OfferedIn reports whether a zone offers the type.
func (t *Type) OfferedIn(zone string) bool { return slices.Contains(t.Zones, zone) }

// columns is the number of columns in catalogue.txt.
const columns = 17

func readCatalogue(text, region string) ([]*Type, error) {
	var types []*Type
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		t, err := readType(strings.Fields(line), region)
		if err != nil {
			return nil, fmt.Errorf("instance type %s: %w", strings.TrimSpace(line), err)
		}
		types = append(types, t)
	}
	return types, nil
}

func readType(f []string, region string) (*Type, error) {
	if len(f) != columns {
		return nil, fmt.Errorf("%d columns, not %d", len(f), columns)
	}
	t := &Type{Name: f[0], Arch: f[1], Manufacturer: f[2], Hypervisor: orNone(f[14])}
	numbers := map[int]*int{
		4: &t.VCPUs, 5: &t.Cores, 6: &t.MiB, 7: &t.Interfaces, 8: &t.IPs, 9: &t.Branches,
		10: &t.EBSMbps, 11: &t.NetworkMbps, 12: &t.DiskGB,
	}
	for column, n := range numbers {
		var err error
		if *n, err = strconv.Atoi(strings.Replace(f[column], "-", "0", 1)); err != nil {
			return nil, err
		}
	}
	for column, x := range map[int]*float64{3: &t.GHz, 15: &t.Price} {
		var err error
		if *x, err = strconv.ParseFloat(f[column], 64); err != nil {
			return nil, err
		}
	}
	for _, letter := range f[16] {
		t.Zones = append(t.Zones, region+string(letter))
	}
	var err error
	t.Devices, err = readDevices(orNone(f[13]))
	return t, err
}

func readDevices(s string) (*Devices, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // most types have none
	}
	parts := strings.Split(s, "/")
	if len(parts) != 4 {
		return nil, fmt.Errorf("devices %q are not manufacturer/name/count/MiB", s)
	}
	count, err := strconv.Atoi(parts[2])
	if err != nil {
		return nil, err
	}
	mib, err := strconv.Atoi(parts[3])
	return &Devices{Manufacturer: parts[0], Name: parts[1], Count: count, MiB: mib}, err
}

func orNone(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func (*Type) tags() map[string]string { return nil }

func (t *Type) attribute(name string) ([]string, bool) {
	switch name {
	case "instance-type":
		return []string{t.Name}, true
	case "supported-virtualization-type":
		return []string{"hvm"}, true
	case "processor-info.supported-architecture":
		return []string{t.Arch}, true
	case "bare-metal":
		return []string{strconv.FormatBool(t.Metal())}, true
	case "hypervisor":
		return []string{t.Hypervisor}, true
	case "supported-usage-class":
		return []string{OnDemand, Spot}, true
	}
	return nil, false
}

// TypesThat returns the instance types that match.
func (c *Cloud) TypesThat(names []string, filters []Filter) ([]Type, error) {
	some, err := chosen(c.types, names, func(t *Type) string { return t.Name }, func(name string) error {
		return refuse("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", name)
	})
	if err != nil {
		return nil, err
	}
	return copies(applyFilters(some, filters))
}
