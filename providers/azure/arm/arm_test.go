package arm_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/plumbline-e2e/plumbline/providers/azure/arm"
)

const group = "/subscriptions/s/resourceGroups/G"

func TestPaths(t *testing.T) {
	g := NewWithT(t)
	vm := arm.Parse(group + "/providers/Microsoft.Compute/virtualMachines/VM")
	g.Expect(vm.Kind).To(Equal("microsoft.compute/virtualmachines/*"))
	g.Expect(vm.Name()).To(Equal("vm"))
	g.Expect(vm.Group).To(Equal("g"))
	g.Expect(arm.Parse(vm.Path + "/extensions/e").Kind).To(Equal("microsoft.compute/virtualmachines/extensions/*"))
	g.Expect(arm.Parse(vm.Path + "/extensions/e").Parent()).To(Equal(vm))
	g.Expect(arm.Parse(vm.Path + "/extensions/").Kind).To(Equal("microsoft.compute/virtualmachines/extensions"))
	g.Expect(arm.Parse("/msi/token").Kind).To(Equal("/msi/token"))
	for _, odd := range []string{"", "/", "/providers", "/resourceGroups", "//", "/providers/"} {
		g.Expect(func() { arm.Parse(odd) }).NotTo(Panic(), odd)
	}
}

func TestResourcesEndWithTheirParents(t *testing.T) {
	g, s := NewWithT(t), arm.NewStore()
	vm := arm.Parse(group + "/providers/Microsoft.Compute/virtualMachines/vm")
	other, extension := arm.Parse(vm.Path+"2"), arm.Parse(vm.Path+"/extensions/e")
	for _, id := range []arm.ID{vm, other, extension} {
		_, created := s.Put(id, arm.Object{})
		g.Expect(created).To(BeTrue())
	}
	g.Expect(s.Delete(arm.Parse(group + "/providers/microsoft.compute/VIRTUALMACHINES/vm"))).To(BeTrue())
	g.Expect(s.Delete(vm)).To(BeFalse())
	_, there := s.Get(extension)
	g.Expect(there).To(BeFalse())
	g.Expect(s.List("microsoft.compute/virtualmachines", "", 0)).To(ConsistOf(HaveKeyWithValue("id", other.Path)))
}

func TestAPatchReplacesTagsAndKeepsProperties(t *testing.T) {
	g, s := NewWithT(t), arm.NewStore()
	id := arm.Parse(group + "/providers/Microsoft.Network/networkInterfaces/n")
	s.Put(id, arm.Object{"tags": arm.Object{"a": "1"}, "properties": arm.Object{"p": "1", "q": "1"}})
	o, there := s.Patch(id, arm.Object{"tags": arm.Object{"b": "2"}, "properties": arm.Object{"q": "2"}})
	g.Expect(there).To(BeTrue())
	g.Expect(o).To(HaveKeyWithValue("tags", arm.Object{"b": "2"}))
	g.Expect(arm.Properties(o)).To(Equal(arm.Object{"p": "1", "q": "2", "provisioningState": "Succeeded"}))
	_, there = s.Patch(arm.Parse(id.Path+"2"), arm.Object{})
	g.Expect(there).To(BeFalse())
}

func TestListsAsTheyWere(t *testing.T) {
	synctest.Test(t, listsAsTheyWere)
}

func listsAsTheyWere(t *testing.T) {
	g, s := NewWithT(t), arm.NewStore()
	const kind = "microsoft.network/networkinterfaces"
	old := arm.Parse(group + "/providers/" + kind + "/old")
	s.Put(old, arm.Object{})
	<-time.After(30 * time.Second)
	s.Put(arm.Parse(group+"/providers/"+kind+"/new"), arm.Object{})
	s.Delete(old)
	g.Expect(s.List(kind, "", 0)).To(ConsistOf(HaveKeyWithValue("name", "new")))
	g.Expect(s.List(kind, "", 20*time.Second)).To(ConsistOf(HaveKeyWithValue("name", "old")))
	g.Expect(s.List(kind, "", time.Hour)).To(BeEmpty())
	g.Expect(s.List(kind, "/subscriptions/other", 0)).To(BeEmpty())
}
