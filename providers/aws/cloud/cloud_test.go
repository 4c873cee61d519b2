package cloud

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/simulator"
)

// region returns a new region with a launch template "t" for x86_64.
func region(t *testing.T) *Cloud {
	t.Helper()
	g := NewWithT(t)
	times := simulator.Times{Pending: time.Second, Ending: time.Second}
	c, err := New(simulator.NewBase(t.Context(), nil, times, 7), Settings{})
	g.Expect(err).NotTo(HaveOccurred())
	image, err := c.Parameter(standard)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.CreateTemplate("", "t", TemplateData{ImageID: image, Groups: []string{c.groups[0].ID}}, nil)
	g.Expect(err).NotTo(HaveOccurred())
	return c
}

const standard = "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id"

// code returns the code of an [Error], or "" for other errors.
func code(err error) string {
	if e, is := errors.AsType[*Error](err); is {
		return e.Code
	}
	return ""
}

// wants returns a request for instances of any of the types, in any zone.
func wants(c *Cloud, capacity string, count int, types ...string) FleetRequest {
	choice := Choice{TemplateName: "t"}
	for _, name := range types {
		for _, s := range c.subnets {
			choice.Overrides = append(choice.Overrides, Override{Type: name, SubnetID: s.ID})
		}
	}
	return FleetRequest{
		Capacity: capacity, Count: count, Choices: []Choice{choice},
		Tags: map[string]string{"owner": "me"},
	}
}

func TestTheCatalogueIsWhatItSays(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	g.Expect(len(c.types)).To(BeNumerically(">=", 60))
	families, archs, metal, gpu, disk := map[string]bool{}, map[string]bool{}, 0, 0, 0
	for _, x := range c.types {
		families[x.Family()], archs[x.Arch] = true, true
		g.Expect(x.Price).To(BeNumerically(">", 0), x.Name)
		g.Expect(x.Zones).NotTo(BeEmpty(), x.Name)
		g.Expect(x.Pods()).To(BeNumerically(">=", 4), x.Name)
		for _, zone := range x.Zones {
			g.Expect(x.SpotPrice(zone)).To(And(BeNumerically(">", 0.2*x.Price), BeNumerically("<", 0.5*x.Price)), x.Name)
		}
		metal += count(x.Metal())
		gpu += count(x.Devices != nil)
		disk += count(x.DiskGB > 0)
	}
	g.Expect(len(families)).To(BeNumerically(">=", 15))
	g.Expect(archs).To(HaveLen(2))
	g.Expect([]int{metal, gpu, disk}).To(HaveEach(BeNumerically(">", 0)))

	m5 := c.typeNamed("m5.large")
	g.Expect(*m5).To(Equal(Type{
		Name: "m5.large", Arch: "x86_64", Manufacturer: "Intel", GHz: 3.1, VCPUs: 2, Cores: 1, MiB: 8192, Interfaces: 3,
		IPs: 10, Branches: 9,
		EBSMbps: 4750, NetworkMbps: 750, Hypervisor: "nitro", Price: 0.096,
		Zones: []string{"us-east-1a", "us-east-1b", "us-east-1c"},
	}))
	g.Expect(m5.Pods()).To(Equal(29))
	g.Expect(c.typeNamed("g5.12xlarge").Devices).To(Equal(&Devices{"NVIDIA", "A10G", 4, 24576}))
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestMistakesInACatalogue(t *testing.T) {
	for text, wrong := range map[string]string{
		"m5.large x86_64":        "2 columns, not 17",
		strings.Repeat("x ", 17): "invalid syntax",
		"m x86_64 Intel 3.1 2 1 8192 3 10 9 4750 750 - NVIDIA/T4 nitro 0.096 abc": "not manufacturer/name/count/MiB",
	} {
		_, err := readCatalogue(text, "us-east-1")
		NewWithT(t).Expect(err).To(MatchError(ContainSubstring(wrong)))
	}
}

func TestFleetsTakeTheCheapestThatThereIs(t *testing.T) {
	for name, row := range map[string]struct {
		change func(c *Cloud, r *FleetRequest)
		want   []string // launched types
		errors []string // codes
	}{
		"on demand": {want: []string{"c5.large", "c5.large"}},
		"by priority": {
			change: func(_ *Cloud,
				r *FleetRequest,
			) {
				r.Strategy = "prioritized"
				r.Choices[0].Overrides[0].Priority = 1
			},
			want: []string{"m5.large", "m5.large"},
		},
		"on spot, by its price": {change: func(_ *Cloud, r *FleetRequest) {
			r.Capacity = Spot
		}, want: []string{"c5.large", "c5.large"}},
		"where there is capacity": {
			change: func(c *Cloud, _ *FleetRequest) {
				fault(c, simulator.Fault{Kind: simulator.NoCapacity, Offering: simulator.Offering{Type: "c5.large"}})
			},
			want: []string{"m5.large", "m5.large"}, errors: slices.Repeat([]string{"InsufficientInstanceCapacity"}, 3),
		},
		"nothing where there is none": {
			change: func(c *Cloud, _ *FleetRequest) { fault(c, simulator.Fault{Kind: simulator.NoCapacity}) },
			errors: slices.Repeat([]string{"InsufficientInstanceCapacity"}, 6),
		},
		"as many as a subnet has addresses for": {
			change: func(c *Cloud, _ *FleetRequest) { c.subnets[0].Free = 1 },
			want:   []string{"c5.large", "c5.large"}, errors: []string{"InsufficientFreeAddressesInSubnet"},
		},
		"what is offered and exists": {
			change: func(_ *Cloud, r *FleetRequest) {
				o := &r.Choices[0].Overrides
				*o = append([]Override{
					{Type: "inf1.xlarge", Zone: "us-east-1a"},
					{Type: "x9.large", Zone: "us-east-1a"},
					{Type: "m6g.large", Zone: "us-east-1a"},
				}, *o...)
			},
			want:   []string{"c5.large", "c5.large"},
			errors: []string{"InvalidFleetConfiguration", "InvalidParameterValue", "InvalidParameterValue"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := region(t)
			r := wants(c, OnDemand, 2, "m5.large", "c5.large")
			if row.change != nil {
				row.change(c, &r)
			}
			f, err := c.CreateFleet(r)
			g.Expect(err).NotTo(HaveOccurred())
			var got, failed []string
			for _, l := range f.Launched {
				for _, i := range l.Instances {
					got = append(got, i.Type.Name)
					g.Expect(i.Tags).To(HaveKeyWithValue("owner", "me"))
				}
			}
			for _, e := range f.Errors {
				failed = append(failed, e.Error.Code)
			}
			g.Expect(got).To(Equal(row.want))
			g.Expect(failed).To(ConsistOf(row.errors))
		})
	}
}

func fault(c *Cloud, f simulator.Fault) {
	if err := c.base.Faults.Add(f); err != nil {
		panic(err)
	}
}

func TestARequestIsCarriedOutOnce(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	r := wants(c, Spot, 1, "m5.large")
	r.Token = "once"
	first, err := c.CreateFleet(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.CreateFleet(r)).To(Equal(first))
	g.Expect(c.fleet.Living()).To(HaveLen(1))
}

func TestRequestsThatCanNotBeRight(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	r := wants(c, Spot, 1, "m5.large")
	r.Choices[0].TemplateName = "none"
	_, err := c.CreateFleet(r)
	g.Expect(code(err)).To(Equal("InvalidLaunchTemplateName.NotFoundException"))
	r = wants(c, Spot, 1, "m5.large")
	c.templates["t"].Data.Profile = "none"
	_, err = c.CreateFleet(r)
	g.Expect(code(err)).To(Equal("InvalidParameterValue"))
	_, err = c.CreateFleet(FleetRequest{Count: 1})
	g.Expect(code(err)).To(Equal("InvalidParameterCombination"))
}

func TestALifeOfAnInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := region(t)
		f, err := c.CreateFleet(wants(c, Spot, 1, "m5.large"))
		g.Expect(err).NotTo(HaveOccurred())
		i := f.Launched[0].Instances[0]
		free := func() int {
			subnets, _ := c.Subnets([]string{i.Subnet.ID}, nil)
			return subnets[0].Free
		}
		before := free()
		states := func() (all []simulator.State) {
			seen, err := c.Instances([]string{i.ID}, nil)
			g.Expect(err).NotTo(HaveOccurred())
			for _, s := range seen {
				all = append(all, s.State)
			}
			return all
		}
		g.Expect(states()).To(Equal([]simulator.State{simulator.Pending}))
		passes := func(d time.Duration) { <-time.After(d); synctest.Wait() }
		passes(2 * time.Second)
		g.Expect(states()).To(Equal([]simulator.State{simulator.Running}))
		fault(c, simulator.Fault{Kind: simulator.Stale, By: time.Minute})
		_, err = c.Instances([]string{i.ID}, nil)
		g.Expect(code(err)).To(Equal("InvalidInstanceID.NotFound"), "a minute ago it was not there")
		c.base.Faults.Clear()

		changes, err := c.Terminate(i.ID)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(changes).To(Equal([]Change{{i.ID, simulator.Running, simulator.ShuttingDown}}))
		passes(2 * time.Second)
		g.Expect(free()).To(Equal(before + 1))
		g.Expect(c.Terminate(i.ID)).To(Equal([]Change{{i.ID, simulator.Terminated, simulator.Terminated}}),
			"it can be asked for again")
		_, err = c.Terminate(i.ID, "i-0")
		g.Expect(code(err)).To(Equal("InvalidInstanceID.NotFound"))

		told := c.Receive(t.Context(), 10, time.Minute, 0)
		g.Expect(told).To(HaveLen(3), "of Running, ShuttingDown and Terminated")
		g.Expect(told[2].Body).To(And(ContainSubstring(i.ID), ContainSubstring(`"state":"terminated"`)))
		passes(remembered)
		_, err = c.Terminate(i.ID)
		g.Expect(code(err)).To(Equal("InvalidInstanceID.NotFound"), "it is forgotten after an hour")
	})
}

func TestAFleetCountsAShortageOnce(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	fault(c, simulator.Fault{Kind: simulator.NoCapacity, Offering: simulator.Offering{Zone: "us-east-1a"}, Count: 1})
	for _, failed := range []int{1, 0} {
		f, err := c.CreateFleet(wants(c, OnDemand, 1, "m5.large"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Errors).To(HaveLen(failed), "a request at a time")
	}
}

func TestFilters(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	found := func(f ...Filter) int {
		subnets, err := c.Subnets(nil, f)
		g.Expect(err).NotTo(HaveOccurred())
		return len(subnets)
	}
	g.Expect(found(Filter{"tag:" + Discovery, []string{"plumb*"}})).To(Equal(3))
	g.Expect(found(Filter{"tag:" + Discovery, []string{"other"}})).To(BeZero())
	g.Expect(found(Filter{"tag-key", []string{"karpenter.sh/*"}})).To(Equal(3), "a star matches slashes too")
	g.Expect(found(Filter{"availability-zone", []string{"us-east-1?"}}, Filter{"subnet-id", []string{c.subnets[1].ID}})).
		To(Equal(1))
	_, err := c.Subnets(nil, []Filter{{"colour", nil}})
	g.Expect(code(err)).To(Equal("InvalidParameterValue"))
	c.SetSubnets("")
	_, err = c.Subnets(nil, []Filter{{"colour", nil}})
	g.Expect(err).NotTo(HaveOccurred(), "there is none of which to ask for its colour")
}

func TestEachParameterIsAnImageOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	ids := map[string]bool{}
	for _, variant := range []string{
		"x86_64/standard", "x86_64/nvidia", "x86_64/neuron", "arm64/standard",
		"arm64/nvidia",
	} {
		id, err := c.Parameter("/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/" + variant + "/recommended/image_id")
		g.Expect(err).NotTo(HaveOccurred())
		ids[id] = true
	}
	g.Expect(ids).To(HaveLen(5))
	before, err := c.Parameter(standard)
	g.Expect(err).NotTo(HaveOccurred())
	pinned := strings.Replace(standard, "recommended", "amazon-eks-node-al2023-x86_64-standard-1.36-v20260701", 1)
	g.Expect(c.Parameter(pinned)).To(Equal(before))
	c.Release()
	g.Expect(c.Parameter(standard)).NotTo(Equal(before))
	g.Expect(c.Parameter(pinned)).To(Equal(before), "what is pinned stays")
	for _, none := range []string{
		"/aws/none", strings.Replace(pinned, "v2026", "v2025", 1),
		strings.Replace(standard, "x86_64/standard", "arm64/neuron", 1),
	} {
		_, err := c.Parameter(none)
		g.Expect(code(err)).To(Equal("ParameterNotFound"), none)
	}
}

func TestMessagesComeAgainUntilTheyAreDeleted(t *testing.T) {
	g := NewWithT(t)
	c := region(t)
	c.Send("a")
	const hidden = 50 * time.Millisecond
	first := c.Receive(t.Context(), 10, hidden, 0)
	g.Expect(first).To(HaveLen(1))
	g.Expect(c.Receive(t.Context(), 10, hidden, 0)).To(BeEmpty(), "it is hidden")
	again := c.Receive(t.Context(), 10, time.Minute, time.Minute)
	g.Expect(again).To(HaveLen(1))
	g.Expect(again[0].Receipt).NotTo(Equal(first[0].Receipt))
	c.Delete(first[0].Receipt)
	g.Expect(c.queue.messages).To(HaveLen(1), "that receipt is out of date")
	c.Delete(again[0].Receipt)
	g.Expect(c.queue.messages).To(BeEmpty())
	time.AfterFunc(20*time.Millisecond, func() { c.Send("b") })
	g.Expect(c.Receive(t.Context(), 1, hidden, time.Minute)).To(HaveLen(1), "whoever waits gets it when it comes")
}

// told returns the type of the event in a message.
func told(m Message) string {
	var event struct {
		Type string `json:"detail-type"`
	}
	_ = json.Unmarshal([]byte(m.Body), &event)
	return event.Type
}

func TestManyMessagesNameEachInstanceOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no instance changes its state meanwhile
		g := NewWithT(t)
		c := region(t)
		for range 8 {
			_, err := c.CreateFleet(wants(c, Spot, 1, "m5.large"))
			g.Expect(err).NotTo(HaveOccurred())
		}
		_, err := c.AnnounceMany(7)
		g.Expect(err).To(MatchError(ContainSubstring("can't be 7 messages: each of 8 instances is in one")))
		g.Expect(c.Announcements().Waiting).To(BeZero(), "all or nothing")

		all, err := c.AnnounceMany(100)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(all.Ending).To(HaveLen(4))
		g.Expect(all.Staying).To(HaveLen(4))
		messages := c.Receive(t.Context(), 1000, time.Minute, 0)
		g.Expect(messages).To(HaveLen(100))
		kinds, named, early := map[string]int{}, map[string]int{}, 0
		for n, m := range messages {
			kinds[told(m)]++
			for _, e := range c.fleet.Living() {
				if strings.Contains(m.Body, e.Instance.ID) {
					named[e.Instance.ProviderID()]++
					if n < 50 {
						early++
					}
				}
			}
		}
		g.Expect(kinds).To(HaveLen(4))
		g.Expect(kinds).To(HaveEach(BeNumerically(">=", 18)))
		g.Expect(named).To(HaveLen(8))
		g.Expect(named).To(HaveEach(1))
		g.Expect(slices.Sorted(maps.Keys(named))).To(ConsistOf(append(all.Ending, all.Staying...)))
		g.Expect(early).To(Equal(4), "they are spread")
	})
}

func TestThatOnDemandInstancesEndIsAnnouncedByTheirRetirement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no instance changes its state meanwhile
		g := NewWithT(t)
		c := region(t)
		_, err := c.CreateFleet(wants(c, OnDemand, 1, "m5.large"))
		g.Expect(err).NotTo(HaveOccurred())
		all, err := c.AnnounceMany(1)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(all.Ending).To(HaveLen(1))
		g.Expect(told(c.Receive(t.Context(), 1, 0, 0)[0])).To(Equal("AWS Health Event"))
	})
}

func TestManyMessagesAreCountedUntilTheLastIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no instance changes its state meanwhile
		g := NewWithT(t)
		c := region(t)
		c.Send("of before")
		_, err := c.AnnounceMany(15000)
		g.Expect(err).NotTo(HaveOccurred())
		for {
			messages := c.Receive(t.Context(), 10, time.Minute, 0)
			if len(messages) == 0 {
				break
			}
			<-time.After(time.Millisecond) // of the bubble's time
			for _, m := range messages {
				c.Delete(m.Receipt)
			}
		}
		a := c.Announcements()
		g.Expect([]int{a.Left, a.Waiting, a.Again}).To(Equal([]int{0, 0, 0}))
		g.Expect(a.Calls).To(Equal(15000+1+1501), "one of them was there before, and each call gets ten")
		g.Expect(a.Seconds).To(Equal(1.501))

		_, err = c.AnnounceMany(1)
		g.Expect(err).NotTo(HaveOccurred())
		c.Receive(t.Context(), 10, 0, 0)
		again := c.Receive(t.Context(), 10, 0, 0)[0]
		g.Expect(c.Announcements().Again).To(Equal(1), "it was received twice")
		c.Delete(again.Receipt)
		c.Delete(again.Receipt)
		a = c.Announcements()
		g.Expect(a.Again).To(Equal(2), "it was deleted twice")
		g.Expect([]int{a.Left, a.Calls}).To(Equal([]int{0, 3}), "what comes after the last does not count")
	})
}
