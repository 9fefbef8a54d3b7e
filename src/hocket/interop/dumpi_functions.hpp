// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The hocket authors

#pragma once

#include <array>
#include <string_view>

namespace hocket::interop {

/// A function as DUMPI numbers it (docs/traceformat.dox of sst-dumpi 13): its place in the table is its number in a
/// file. `layout` has one letter for each argument in the order of the file:
///
///   32 bits   i not used    n N count    p P peer      g G tag       R request    r root     f flag
///             m own rank in the communicator           x index of the request that is complete
///             y Y color and key
///   16 bits   h e not used  t T datatype c communicator, C the one made            v V group, u the one made
///             w window      F file
///    8 bits   k not used    o operator
///   64 bits   l not used
///   lists behind a count of 32 bits:  a A numbers of 32 bits   q requests    X indices
///             S D counts to send and to receive                b lists of numbers
///             H J numbers of 16 bits   K of 8 bits   z text      Z texts      3 lists of texts
///   s         statuses, where the mask of the call says that there are some
///   ?         before a letter: only where r is m
///
/// Capital letters are the second of two of a kind: what is received.
struct DumpiFunction {
    std::string_view name;  ///< without MPI_
    std::string_view layout;
};

// Behind the table: the entry and exit of a function of the program, with its address; the end of the calls.
constexpr unsigned dumpi_function_enter = 291, dumpi_function_exit = 292, dumpi_end_of_stream = 293;

// clang-format off
constexpr std::array<DumpiFunction, 290> dumpi_functions = {{
    {"Send", "ntpgc"}, {"Recv", "ntpgcs"}, {"Get_count", "sti"}, {"Bsend", "ntpgc"}, {"Ssend", "ntpgc"},
    {"Rsend", "ntpgc"}, {"Buffer_attach", "i"}, {"Buffer_detach", "i"}, {"Isend", "ntpgcR"}, {"Ibsend", "ntpgcR"},
    {"Issend", "ntpgcR"}, {"Irsend", "ntpgcR"}, {"Irecv", "ntpgcR"}, {"Wait", "Rs"}, {"Test", "Rfs"},
    {"Request_free", "R"}, {"Waitany", "iqxs"}, {"Testany", "iqxfs"}, {"Waitall", "iqs"}, {"Testall", "iqfs"},
    {"Waitsome", "iqiXs"}, {"Testsome", "iqiXs"}, {"Iprobe", "pgcfs"}, {"Probe", "pgcs"}, {"Cancel", "R"},
    {"Test_cancelled", "si"}, {"Send_init", "ntpgcR"}, {"Bsend_init", "ntpgcR"}, {"Ssend_init", "ntpgcR"},
    {"Rsend_init", "ntpgcR"}, {"Recv_init", "ntpgcR"}, {"Start", "R"}, {"Startall", "iq"}, {"Sendrecv", "ntpgNTPGcs"},
    {"Sendrecv_replace", "ntpgPGcs"}, {"Type_contiguous", "ith"}, {"Type_vector", "iiith"}, {"Type_hvector", "iiith"},
    {"Type_indexed", "iaath"}, {"Type_hindexed", "iaath"}, {"Type_struct", "iaaHh"}, {"Address", "i"},
    {"Type_extent", "ti"}, {"Type_size", "ti"}, {"Type_lb", "ti"}, {"Type_ub", "ti"}, {"Type_commit", "t"},
    {"Type_free", "t"}, {"Get_elements", "sti"}, {"Pack", "itiiic"}, {"Unpack", "iiiitc"}, {"Pack_size", "itci"},
    {"Barrier", "c"}, {"Bcast", "ntrc"}, {"Gather", "mntrc?N?T"}, {"Gatherv", "mintrc?D?aT"},
    {"Scatter", "mNTrc?n?t"}, {"Scatterv", "mitNTrc?S?a"}, {"Allgather", "ntNTc"}, {"Allgatherv", "intDaTc"},
    {"Alltoall", "ntNTc"}, {"Alltoallv", "iSatDaTc"}, {"Reduce", "ntorc"}, {"Op_create", "fo"}, {"Op_free", "o"},
    {"Allreduce", "ntoc"}, {"Reduce_scatter", "iDtoc"}, {"Scan", "ntoc"}, {"Group_size", "vi"}, {"Group_rank", "vi"},
    {"Group_translate_ranks", "viaVa"}, {"Group_compare", "vVk"}, {"Comm_group", "cu"}, {"Group_union", "vVu"},
    {"Group_intersection", "vVu"}, {"Group_difference", "vVu"}, {"Group_incl", "viAu"}, {"Group_excl", "viAu"},
    {"Group_range_incl", "vibu"}, {"Group_range_excl", "vibu"}, {"Group_free", "v"}, {"Comm_size", "ci"},
    {"Comm_rank", "ci"}, {"Comm_compare", "cek"}, {"Comm_dup", "cC"}, {"Comm_create", "cvC"}, {"Comm_split", "cyYC"},
    {"Comm_free", "c"}, {"Comm_test_inter", "ci"}, {"Comm_remote_size", "ci"}, {"Comm_remote_group", "cv"},
    {"Intercomm_create", "cieigC"}, {"Intercomm_merge", "ciC"}, {"Keyval_create", "h"}, {"Keyval_free", "h"},
    {"Attr_put", "ci"}, {"Attr_get", "cif"}, {"Attr_delete", "ci"}, {"Topo_test", "ck"}, {"Cart_create", "ciAaiC"},
    {"Dims_create", "iiaa"}, {"Graph_create", "icnaaiC"}, {"Graphdims_get", "cii"}, {"Graph_get", "iiciiaa"},
    {"Cartdim_get", "ci"}, {"Cart_get", "iciaaa"}, {"Cart_rank", "icai"}, {"Cart_coords", "iciia"},
    {"Graph_neighbors_count", "cii"}, {"Graph_neighbors", "iciia"}, {"Cart_shift", "ciipp"}, {"Cart_sub", "icAC"},
    {"Cart_map", "ciaai"}, {"Graph_map", "iciaai"}, {"Get_processor_name", "zi"}, {"Get_version", "ii"},
    {"Errhandler_create", "h"}, {"Errhandler_set", "ch"}, {"Errhandler_get", "ch"}, {"Errhandler_free", "h"},
    {"Error_string", "izi"}, {"Error_class", "ii"}, {"Wtime", ""}, {"Wtick", ""}, {"Init", "Z"}, {"Finalize", ""},
    {"Initialized", "i"}, {"Abort", "ci"}, {"Pcontrol", "i"}, {"Close_port", "z"}, {"Comm_accept", "zhrcC"},
    {"Comm_connect", "zhrcC"}, {"Comm_disconnect", "c"}, {"Comm_get_parent", "c"}, {"Comm_join", "ic"},
    {"Comm_spawn", "mrcC?z?Z?i?h?a"}, {"Comm_spawn_multiple", "imrcC?i?Z?3?a?H?a"}, {"Lookup_name", "zhz"},
    {"Open_port", "hz"}, {"Publish_name", "zhz"}, {"Unpublish_name", "zhz"}, {"Accumulate", "ntpiihow"},
    {"Get", "ntpiihw"}, {"Put", "ntpiihw"}, {"Win_complete", "w"}, {"Win_create", "iihcw"}, {"Win_fence", "kw"},
    {"Win_free", "w"}, {"Win_get_group", "wv"}, {"Win_lock", "kpkw"}, {"Win_post", "vkw"}, {"Win_start", "vkw"},
    {"Win_test", "wf"}, {"Win_unlock", "pw"}, {"Win_wait", "w"}, {"Alltoallw", "iSaHDaJc"}, {"Exscan", "ntoc"},
    {"Add_error_class", "i"}, {"Add_error_code", "ii"}, {"Add_error_string", "iz"}, {"Comm_call_errhandler", "ci"},
    {"Comm_create_keyval", "h"}, {"Comm_delete_attr", "ch"}, {"Comm_free_keyval", "h"}, {"Comm_get_attr", "chf"},
    {"Comm_get_name", "czi"}, {"Comm_set_attr", "ch"}, {"Comm_set_name", "cz"}, {"File_call_errhandler", "Fi"},
    {"Grequest_complete", "R"}, {"Grequest_start", "R"}, {"Init_thread", "Zkk"}, {"Is_thread_main", "f"},
    {"Query_thread", "k"}, {"Status_set_cancelled", "sf"}, {"Status_set_elements", "sti"},
    {"Type_create_keyval", "h"}, {"Type_delete_attr", "th"}, {"Type_dup", "th"}, {"Type_free_keyval", "h"},
    {"Type_get_attr", "thf"}, {"Type_get_contents", "iiitiiiaaH"}, {"Type_get_envelope", "tiiik"},
    {"Type_get_name", "tzi"}, {"Type_set_attr", "th"}, {"Type_set_name", "tz"}, {"Type_match_size", "kit"},
    {"Win_call_errhandler", "wi"}, {"Win_create_keyval", "h"}, {"Win_delete_attr", "wh"}, {"Win_free_keyval", "h"},
    {"Win_get_attr", "whf"}, {"Win_get_name", "wzi"}, {"Win_set_attr", "wh"}, {"Win_set_name", "wz"},
    {"Alloc_mem", "ih"}, {"Comm_create_errhandler", "h"}, {"Comm_get_errhandler", "ch"},
    {"Comm_set_errhandler", "ch"}, {"File_create_errhandler", "h"}, {"File_get_errhandler", "Fh"},
    {"File_set_errhandler", "Fh"}, {"Finalized", "f"}, {"Free_mem", ""}, {"Get_address", "i"}, {"Info_create", "h"},
    {"Info_delete", "hz"}, {"Info_dup", "hh"}, {"Info_free", "h"}, {"Info_get", "hzizf"}, {"Info_get_nkeys", "hi"},
    {"Info_get_nthkey", "hiz"}, {"Info_get_valuelen", "hzif"}, {"Info_set", "hzz"}, {"Pack_external", "zitiii"},
    {"Pack_external_size", "ziti"}, {"Request_get_status", "Rfs"}, {"Type_create_darray", "iiiaKaakth"},
    {"Type_create_hindexed", "iaath"}, {"Type_create_hvector", "iiith"}, {"Type_create_indexed_block", "iiath"},
    {"Type_create_resized", "tiih"}, {"Type_create_struct", "iaaHh"}, {"Type_create_subarray", "iaaakth"},
    {"Type_get_extent", "tii"}, {"Type_get_true_extent", "tii"}, {"Unpack_external", "ziiiit"},
    {"Win_create_errhandler", "h"}, {"Win_get_errhandler", "wh"}, {"Win_set_errhandler", "wh"},
    {"File_open", "czkhF"}, {"File_close", "F"}, {"File_delete", "zh"}, {"File_set_size", "Fl"},
    {"File_preallocate", "Fl"}, {"File_get_size", "Fl"}, {"File_get_group", "Fv"}, {"File_get_amode", "Fk"},
    {"File_set_info", "Fh"}, {"File_get_info", "Fh"}, {"File_set_view", "Flttzh"}, {"File_get_view", "Flttz"},
    {"File_read_at", "Flnts"}, {"File_read_at_all", "Flnts"}, {"File_write_at", "Flnts"},
    {"File_write_at_all", "Flnts"}, {"File_iread_at", "Flnti"}, {"File_iwrite_at", "Flnti"}, {"File_read", "Fnts"},
    {"File_read_all", "Fnts"}, {"File_write", "Fnts"}, {"File_write_all", "Fnts"}, {"File_iread", "Fnti"},
    {"File_iwrite", "Fnti"}, {"File_seek", "Flk"}, {"File_get_position", "Fl"}, {"File_get_byte_offset", "Fll"},
    {"File_read_shared", "Fnts"}, {"File_write_shared", "Fnts"}, {"File_iread_shared", "Fnti"},
    {"File_iwrite_shared", "Fnti"}, {"File_read_ordered", "Fnts"}, {"File_write_ordered", "Fnts"},
    {"File_seek_shared", "Flk"}, {"File_get_position_shared", "Fl"}, {"File_read_at_all_begin", "Flnt"},
    {"File_read_at_all_end", "Fs"}, {"File_write_at_all_begin", "Flnt"}, {"File_write_at_all_end", "Fs"},
    {"File_read_all_begin", "Fnt"}, {"File_read_all_end", "Fs"}, {"File_write_all_begin", "Fnt"},
    {"File_write_all_end", "Fs"}, {"File_read_ordered_begin", "Fnt"}, {"File_read_ordered_end", "Fs"},
    {"File_write_ordered_begin", "Fnt"}, {"File_write_ordered_end", "Fs"}, {"File_get_type_extent", "Fti"},
    {"Register_datarep", "z"}, {"File_set_atomicity", "Ff"}, {"File_get_atomicity", "Ff"}, {"File_sync", "F"},
    // Of ROMIO, on requests of files alone.
    {"IO_Test", "ifs"}, {"IO_Wait", "is"}, {"IO_Testall", "iafs"}, {"IO_Waitall", "ias"}, {"IO_Testany", "iaxfs"},
    {"IO_Waitany", "iaxs"}, {"IO_Waitsome", "iaias"}, {"IO_Testsome", "iaias"},
}};
// clang-format on

}  // namespace hocket::interop
