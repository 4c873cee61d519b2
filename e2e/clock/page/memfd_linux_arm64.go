package page

const memfdCreate = 279 // of memfd_create(2)
