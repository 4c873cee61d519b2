package page

const memfdCreate = 319 // of memfd_create(2)
