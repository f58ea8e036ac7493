"""Vector arithmetic (VOP1, VOP2, VOP3, VOPC, VOP3P, VOPD), except lanes and matrices."""
