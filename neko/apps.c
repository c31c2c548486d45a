neko / chen.c : chen_configure neko / chen.c : 148 : 6 parameters,
	5 is the limit : chen_configure neko / fd_deadline.c : push neko /
			 fd_deadline.c : 179 : 6 parameters,
	5 is the limit : push neko / layer.c : neko_send_to neko / layer.c : 174 : 6 parameters,
	5 is the limit : neko_send_to neko / measure.c : neko_setup_nsec neko /
			 measure.c : 152 : 6 parameters,
	5 is the limit : neko_setup_nsec neko / measure.c : neko_setup_u64 neko /
			 measure.c : 158 : 6 parameters,
	5 is the limit : neko_setup_u64 neko / measure.c : neko_setup_double neko /
			 measure.c : 164 : 6 parameters,
	5 is the limit : neko_setup_double neko / msg.c : neko_msg_many neko /
			 msg.c : 78 : 6 parameters,
	5 is the limit : neko_msg_many neko / realwire.c : realwire_message neko /
			 realwire.c : 89 : 7 parameters,
	5 is the limit : realwire_message neko / setup.c : setup_nsec neko /
			 setup.c : 287 : 6 parameters,
	5 is the limit : setup_nsec neko / setup.c : setup_u64 neko / setup.c : 304 : 6 parameters,
	5 is the limit : setup_u64 neko / setup.c : setup_double neko /
			 setup.c : 316 : 6 parameters,
	5 is the limit : setup_double neko / simnet.c : simnet_pass neko /
			 simnet.c : 229 : 6 parameters,
	5 is the limit : simnet_pass neko / hosts / crew_hosts.c : hosts_run neko / hosts /
			 crew_hosts.c : 317 : 6 parameters,
	5 is the limit : hosts_run neko / hosts / renewal.c : renewal_new neko / hosts /
			 renewal.c : 117 : 6 parameters,
	5 is the limit : renewal_new
